import { dirname, join } from 'node:path/posix';
import type { Layers, Permission } from './layers.ts';
import { type Rule, visit } from './rule.ts';
import type { Source } from './source.ts';

/** Rules about imports between modules and from packages. Tests beside a file are exempt. */
export const importRules: readonly Rule[] = [
  {
    name: 'layer',
    check(source, report, { moduleOf, rankOf, isBelow }) {
      const own = moduleOf(source.path);
      const rank = rankOf(own);
      if (rank === undefined) report(0, `add ${own} to a row of the layer table in ARCHITECTURE.md`);
      eachImportedFile(source, (path, position) => {
        const other = moduleOf(path);
        const otherRank = rankOf(other);
        if (rank === undefined || otherRank === undefined || other === own || isBelow(other, own)) return;
        const place = otherRank === rank ? 'to its left in the same row' : `layer ${otherRank}`;
        const advice = 'imports point down: receive what you need as an argument, or move it down';
        report(position, `${own} (layer ${rank}) must not import ${other} (${place}), ${advice}`);
      });
    },
  },
  {
    name: 'folder-index',
    check(source, report, { moduleOf }) {
      eachImportedFile(source, (path, position) => {
        const other = moduleOf(path);
        if (other === moduleOf(source.path) || path === `${other}.ts` || path === `${other}/index.ts`) return;
        report(position, `import ${other}/index.ts instead of ${path}; export from there what is missing`);
      });
    },
  },
  {
    name: 'package',
    check(source, report, { permissionsFor }) {
      eachImport(source, (specifier, position) => {
        if (specifier.startsWith('.') || permissionsFor(source.path, specifier).length > 0) return;
        const advice = 'move the code to a module that may, or add the package to the table and give the reason in docs/decisions/';
        report(position, `${source.path} must not import "${specifier}" (layer table of ARCHITECTURE.md): ${advice}`);
      });
    },
  },
  {
    name: 'restricted-module',
    check(source, report, { moduleOf, importersOf }) {
      eachImportedFile(source, (path, position) => {
        const own = moduleOf(source.path);
        const other = moduleOf(path);
        const importers = importersOf.get(other);
        if (importers === undefined || other === own || importers.includes(own)) return;
        report(position, `receive the value as an option: only ${importers.join(', ')} may import ${other}`);
      });
    },
  },
  {
    name: 'import-cycle',
    check(source, report, { sources }) {
      const cycle = shortestCycle(source, sources);
      if (cycle.some((path) => path < source.path)) return; // Reported where its first path is checked.
      eachImportedFile(source, (path, position) => {
        if (path === cycle[1])
          report(position, `${cycle.join(' → ')} is a cycle: move what both ends need into a file that imports neither`);
      });
    },
  },
];

/** Returns a sentence for each permission of the layer table that no import needs. */
export function findUnusedPermissions(sources: readonly Source[], { permissions, permissionsFor }: Layers): readonly string[] {
  const used = new Set<Permission>();
  for (const source of sources)
    eachImport(source, (specifier) => {
      for (const permission of permissionsFor(source.path, specifier)) used.add(permission);
    });
  return permissions
    .filter((permission) => !used.has(permission))
    .map(({ below, pattern }) => `ARCHITECTURE.md: no file of ${below} imports ${pattern}, remove it from the layer table`);
}

/** Returns the shortest way along imports from a source back to itself, or nothing if there is none. */
function shortestCycle(source: Source, sources: readonly Source[]): readonly string[] {
  const byPath = new Map(sources.map((other) => [other.path, other]));
  const seen = new Set<string>();
  const ways = [[source.path]];
  for (const way of ways) {
    for (const path of importedFiles(byPath.get(way.at(-1) ?? ''))) {
      if (path === source.path) return [...way, path];
      if (!seen.has(path)) ways.push([...way, path]);
      seen.add(path);
    }
  }
  return [];
}

const importsBySource = new WeakMap<Source, readonly string[]>();

function importedFiles(source: Source | undefined): readonly string[] {
  if (source === undefined) return [];
  const known = importsBySource.get(source);
  if (known !== undefined) return known;
  const paths: string[] = [];
  eachImportedFile(source, (path) => paths.push(path));
  importsBySource.set(source, paths);
  return paths;
}

/** Calls `each` with the path below the sources of every file that is imported or re-exported. */
function eachImportedFile(source: Source, each: (path: string, position: number) => void): void {
  eachImport(source, (specifier, position) => {
    if (specifier.startsWith('.')) each(join(dirname(source.path), specifier), position);
  });
}

function eachImport(source: Source, each: (specifier: string, position: number) => void): void {
  for (const [specifier, position] of specifiersOf(source)) each(specifier, position);
}

/** The imports of each source, because several rules need them. */
const specifiers = new WeakMap<Source, readonly (readonly [specifier: string, position: number])[]>();

function specifiersOf(source: Source): readonly (readonly [specifier: string, position: number])[] {
  const known = specifiers.get(source);
  if (known !== undefined) return known;
  const found: [string, number][] = [];
  specifiers.set(source, found);
  if (source.isTest) return found;
  visit(source, {
    ImportDeclaration: (node) => found.push([node.source.value, node.start]),
    ExportAllDeclaration: (node) => found.push([node.source.value, node.start]),
    ExportNamedDeclaration: (node) => {
      if (node.source !== null) found.push([node.source.value, node.start]);
    },
    ImportExpression: (node) => {
      if (node.source.type === 'Literal') found.push([String(node.source.value), node.start]);
    },
    TSImportType: (node) => found.push([String(node.source.value), node.start]),
  });
  return found;
}
