import { dirname, join } from 'node:path/posix';
import type { VisitorObject } from 'rolldown/utils';
import { visit } from './rule.ts';
import type { Source } from './source.ts';

/** The file whose exports are the API of the package. */
const PACKAGE_API = 'index.ts';

/**
 * Returns a sentence for each value that a file exports and no other file imports. Exported types are exempt: callers need them to name the
 * parameters and results of the exported functions. `users` are the files outside of the sources that import from them: tests, scripts and benchmarks.
 */
export function findUnusedExports(sources: readonly Source[], users: readonly Source[]): readonly string[] {
  const imported = new Set([
    ...sources.flatMap((source) => importsOf(source, '')),
    ...users.flatMap((source) => importsOf(source, 'src/')),
  ]);
  return sources
    .filter(({ path, isTest }) => path !== PACKAGE_API && !isTest)
    .flatMap((source) =>
      exportsOf(source)
        .filter((name) => !imported.has(`${source.path} ${name}`))
        .map((name) => `${source.path}: no other file imports ${name}, remove the export`),
    );
}

/**
 * Returns `storage/index.ts migrate` for each imported name. Of an import of all names, only the members that the file uses by name are imported.
 * `prefix` is the part of an imported path that leads to the sources.
 */
function importsOf(source: Source, prefix: string): readonly string[] {
  const names: string[] = [];
  const namespaces = new Map<string, string>();
  const note = (from: string, name: string): void => {
    if (from.startsWith('.')) names.push(`${join(dirname(source.path), from).slice(prefix.length)} ${name}`);
  };
  visit(source, {
    ImportDeclaration({ source: { value }, specifiers }) {
      for (const specifier of specifiers) {
        if (specifier.type === 'ImportNamespaceSpecifier') namespaces.set(specifier.local.name, value);
        else if (specifier.type === 'ImportSpecifier' && specifier.imported.type === 'Identifier') note(value, specifier.imported.name);
      }
    },
    // `export { migrate } from '../storage/index.ts'`: the other module exports it again, and its own importers are checked.
    ExportNamedDeclaration({ source: from, specifiers }) {
      for (const { local } of specifiers) if (from !== null && local.type === 'Identifier') note(from.value, local.name);
    },
    // `const { migrate } = await import('./storage/index.ts')`
    VariableDeclarator({ id, init }) {
      const from = init === null ? undefined : importedBy(init);
      if (from === undefined || id.type !== 'ObjectPattern') return;
      for (const property of id.properties)
        if (property.type === 'Property' && property.key.type === 'Identifier') note(from, property.key.name);
    },
    // `storage.migrate` after `import * as storage`, and `(await import('./storage/index.ts')).migrate`
    MemberExpression({ object, property }) {
      const from = object.type === 'Identifier' ? namespaces.get(object.name) : importedBy(object);
      if (from !== undefined && property.type === 'Identifier') note(from, property.name);
    },
  });
  return names;
}

type Expression = Parameters<NonNullable<VisitorObject['AwaitExpression']>>[0]['argument'];

/** Returns the path of the import that an expression awaits. */
function importedBy(expression: Expression): string | undefined {
  const awaited = expression.type === 'ParenthesizedExpression' ? expression.expression : expression;
  const imported = awaited.type === 'AwaitExpression' && awaited.argument.type === 'ImportExpression' ? awaited.argument.source : undefined;
  return imported?.type === 'Literal' ? String(imported.value) : undefined;
}

function exportsOf(source: Source): readonly string[] {
  const names: string[] = [];
  visit(source, {
    ExportNamedDeclaration({ exportKind, declaration, specifiers }) {
      if (exportKind === 'type') return;
      const ids =
        declaration?.type === 'VariableDeclaration'
          ? declaration.declarations.map(({ id }) => id)
          : [declaration !== null && 'id' in declaration ? declaration.id : undefined];
      for (const id of ids) if (id?.type === 'Identifier') names.push(id.name);
      for (const { exportKind: kind, exported } of specifiers)
        if (kind !== 'type' && exported.type === 'Identifier') names.push(exported.name);
    },
  });
  return names;
}
