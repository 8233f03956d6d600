import { dirname, join } from 'node:path/posix';
import type { Layers } from './layers.ts';
import { visit } from './rule.ts';
import type { Source } from './source.ts';

/**
 * Returns a sentence for each value that the `index.ts` of a module exports and no other file imports. Exported types are
 * exempt: callers need them to name the parameters and results of the exported functions. `users` are the files outside
 * of the sources that import from them: tests and scripts.
 */
export function findUnusedExports(sources: readonly Source[], users: readonly Source[], { moduleOf }: Layers): readonly string[] {
  const imported = new Set([
    ...sources.flatMap((source) => importsOf(source, '')),
    ...users.flatMap((source) => importsOf(source, 'src/')),
  ]);
  return sources
    .filter(({ path }) => path === `${moduleOf(path)}/index.ts`)
    .flatMap((index) =>
      exportsOf(index)
        .filter((name) => !imported.has(`${index.path} ${name}`) && !imported.has(`${index.path} *`))
        .map((name) => `${index.path}: no other module imports ${name}, remove the export`),
    );
}

/**
 * Returns `storage/index.ts migrate` for each imported name, and `storage/index.ts *` for an import of all names.
 * `prefix` is the part of an imported path that leads to the sources.
 */
function importsOf(source: Source, prefix: string): readonly string[] {
  const names: string[] = [];
  const note = (from: string, name: string): void => {
    if (from.startsWith('.')) names.push(`${join(dirname(source.path), from).slice(prefix.length)} ${name}`);
  };
  visit(source, {
    ImportDeclaration({ source: { value }, specifiers }) {
      for (const specifier of specifiers)
        note(value, specifier.type === 'ImportSpecifier' && specifier.imported.type === 'Identifier' ? specifier.imported.name : '*');
    },
    // `export { migrate } from '../storage/index.ts'`: the other module exports it again, and its own importers are checked.
    ExportNamedDeclaration({ source: from, specifiers }) {
      for (const { local } of specifiers) if (from !== null && local.type === 'Identifier') note(from.value, local.name);
    },
    // `(await import('./storage/index.ts')).migrate`
    MemberExpression({ object, property }) {
      const awaited = object.type === 'ParenthesizedExpression' ? object.expression : object;
      const imported =
        awaited.type === 'AwaitExpression' && awaited.argument.type === 'ImportExpression' ? awaited.argument.source : undefined;
      if (imported?.type === 'Literal' && property.type === 'Identifier') note(String(imported.value), property.name);
    },
  });
  return names;
}

function exportsOf(index: Source): readonly string[] {
  const names: string[] = [];
  visit(index, {
    ExportNamedDeclaration({ exportKind, specifiers }) {
      if (exportKind === 'type') return;
      for (const { exportKind: kind, exported } of specifiers)
        if (kind !== 'type' && exported.type === 'Identifier') names.push(exported.name);
    },
  });
  return names;
}
