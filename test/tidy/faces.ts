import { dirname, join } from 'node:path/posix';
import { visit } from './rule.ts';
import type { Source } from './source.ts';

/**
 * Values that a folder's face exports and nobody outside imports, each in a sentence. Types may stand there for whoever
 * will name them: they are what the exported functions take and give. `users` may import what they like: tests, scripts.
 */
export function checkFaces(sources: readonly Source[], users: readonly Source[]): readonly string[] {
  const wanted = new Set([...sources.flatMap((source) => importsOf(source, '')), ...users.flatMap((source) => importsOf(source, 'src/'))]);
  return sources
    .filter(({ path }) => /^[^/]+\/index\.ts$/.test(path))
    .flatMap((face) =>
      exportsOf(face)
        .filter((name) => !wanted.has(`${face.path} ${name}`) && !wanted.has(`${face.path} *`))
        .map((name) => `${face.path}: nobody outside imports ${name}, take it out`),
    );
}

/** `storage/index.ts evolve` for each name that a source imports from a face, `*` for all of them. `below` is where our sources lie for it. */
function importsOf(source: Source, below: string): readonly string[] {
  const names: string[] = [];
  const note = (from: string, name: string): void => {
    if (from.startsWith('.')) names.push(`${join(dirname(source.path), from).slice(below.length)} ${name}`);
  };
  visit(source, {
    ImportDeclaration({ source: { value }, specifiers }) {
      for (const specifier of specifiers)
        note(value, specifier.type === 'ImportSpecifier' && specifier.imported.type === 'Identifier' ? specifier.imported.name : '*');
    },
    // `(await import('./face/index.ts')).step`
    MemberExpression({ object, property }) {
      const awaited = object.type === 'ParenthesizedExpression' ? object.expression : object;
      const imported =
        awaited.type === 'AwaitExpression' && awaited.argument.type === 'ImportExpression' ? awaited.argument.source : undefined;
      if (imported?.type === 'Literal' && property.type === 'Identifier') note(String(imported.value), property.name);
    },
  });
  return names;
}

function exportsOf(face: Source): readonly string[] {
  const names: string[] = [];
  visit(face, {
    ExportNamedDeclaration({ exportKind, specifiers }) {
      if (exportKind === 'type') return;
      for (const { exportKind: kind, exported } of specifiers)
        if (kind !== 'type' && exported.type === 'Identifier') names.push(exported.name);
    },
  });
  return names;
}
