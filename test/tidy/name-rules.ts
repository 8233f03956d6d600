import { basename } from 'node:path/posix';
import { type Rule, visit } from './rule.ts';
import type { Source } from './source.ts';

/** Rules that keep names unique, so that a search for a file or an export has one result. */
export const nameRules: readonly Rule[] = [
  {
    name: 'base-name',
    check(source, report, { sources }) {
      if (isExempt(source)) return;
      const others = sources.filter(
        (other) =>
          other !== source && !isExempt(other) && basename(other.path) === basename(source.path) && twinPath(other) !== twinPath(source),
      );
      if (others.length > 0) report(0, `${pathsOf(others)} has the same base name: name each file after its own subject`);
    },
  },
  {
    name: 'export-name',
    check(source, report, { sources }) {
      if (source.isTest) return;
      for (const [name, position] of exportsOf(source)) {
        const others = sources.filter((other) => other !== source && !areTwins(source, other) && exportsOf(other).has(name));
        if (others.length > 0) report(position, `${pathsOf(others)} exports ${name} too: rename one of them, or export it once`);
      }
    },
  },
];

function isExempt({ path, isTest }: Source): boolean {
  return isTest || basename(path) === 'index.ts';
}

/** Returns the same path for files that implement one interface for each database. */
function twinPath({ path }: Source): string {
  return path.replace(DATABASE, 'storage/*/');
}

/** Returns true if two files belong to different databases: their exports implement one interface. */
function areTwins(one: Source, other: Source): boolean {
  const databases = [one, other].map(({ path }) => path.match(DATABASE)?.[1]);
  return databases[0] !== undefined && databases[1] !== undefined && databases[0] !== databases[1];
}

const DATABASE = /^storage\/(sqlite|postgres)\//;

function pathsOf(sources: readonly Source[]): string {
  return sources.map(({ path }) => path).join(', ');
}

const exportsBySource = new WeakMap<Source, ReadonlyMap<string, number>>();

/** Returns the exported names with their positions. An `index.ts` may export again what its folder exports. */
function exportsOf(source: Source): ReadonlyMap<string, number> {
  const known = exportsBySource.get(source);
  if (known !== undefined) return known;
  const names = new Map<string, number>();
  const add = (id: { readonly type: string } | null | undefined, position: number): void => {
    if (id?.type === 'Identifier' && 'name' in id && !names.has(String(id.name))) names.set(String(id.name), position);
  };
  if (!source.isTest)
    visit(source, {
      ExportNamedDeclaration({ start, declaration, specifiers, source: from }) {
        if (from !== null && basename(source.path) === 'index.ts') return;
        if (declaration?.type === 'VariableDeclaration') for (const { id } of declaration.declarations) add(id, start);
        else if (declaration !== null && 'id' in declaration) add(declaration.id, start);
        for (const { exported, start: position } of specifiers) add(exported, position);
      },
    });
  exportsBySource.set(source, names);
  return names;
}
