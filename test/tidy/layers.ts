/** The layer table of ARCHITECTURE.md: the modules of the sources, their order, and the packages that each may import. */
export interface Layers {
  /** All modules, from the top row down and from left to right. A module is a folder, or a file without `.ts`. */
  readonly modules: readonly string[];
  /** Returns the longest module that contains a path below the sources, or the first part of a path that no module contains. */
  moduleOf(path: string): string;
  /** Returns the number in the first column; `undefined` for a module that the table does not list. */
  rankOf(module: string): number | undefined;
  /** Returns true if `upper` may import `lower`: `lower` is in a lower row, or in the same row and further to the right. */
  isBelow(lower: string, upper: string): boolean;
  readonly permissions: readonly Permission[];
  /** Returns the permissions that allow a file to import a package or a `node:` module. */
  permissionsFor(path: string, specifier: string): readonly Permission[];
  /** The only modules that may import a module, where the document restricts it: "`settings` is read by `service` and `main` alone". */
  readonly importersOf: ReadonlyMap<string, readonly string[]>;
  /** Returns true for a module marked as pure: it has no clock and no promise. */
  isPure(module: string): boolean;
}

interface Row {
  readonly rank: number;
  readonly modules: readonly string[];
  readonly permissions: readonly Permission[];
  readonly pure: readonly string[];
}

/** Files of a module whose path starts with `below` may import packages that match `pattern`. */
export interface Permission {
  readonly module: string;
  readonly below: string;
  readonly pattern: string;
}

const MAX_ROWS = 10;

/**
 * Parses at most ten rows | number | `module`, … | outside world |, the greatest number first. The third column is
 * `everything`, or parts separated by `;`:
 *
 * - `package`, …: every module of the row may import these packages.
 * - in `path` also `package`, …: files below this path of the row may import these packages.
 * - pure, or pure: `module`, …: all modules of the row, or these, have no clock and no promise.
 */
export function parseLayers(markdown: string): Layers {
  const rows = parseRows(markdown);
  const modules = rows.flatMap((row) => row.modules);
  if (modules.length === 0) throw new Error('ARCHITECTURE.md has no layer table: a row is | number | `module` | `package` |');
  if (rows.length > MAX_ROWS) throw new Error(`the layer table has ${rows.length} rows: merge rows, at most ${MAX_ROWS}`);
  rows.forEach(({ rank }, index) => {
    if (!Number.isInteger(rank) || rank >= (rows[index - 1]?.rank ?? Number.POSITIVE_INFINITY))
      throw new Error(`layer ${rank}: number the rows of the layer table with integers, the greatest first`);
  });
  const twice = modules.find((module, index) => modules.indexOf(module) !== index);
  if (twice !== undefined) throw new Error(`the layer table lists ${twice} twice`);
  const pure = rows.flatMap((row) => row.pure);
  const importersOf = new Map(
    [...markdown.matchAll(/`([^`]+)` is read by (.*?) alone/gs)].map(([, module = '', importers = '']) => [module, namesIn(importers)]),
  );
  for (const name of [...pure, ...importersOf.keys(), ...[...importersOf.values()].flat()])
    if (!modules.includes(name)) throw new Error(`ARCHITECTURE.md names the module ${name}, which its layer table does not list`);
  const longestFirst = modules.toSorted((a, b) => b.length - a.length);
  const moduleOf = (path: string): string =>
    longestFirst.find((module) => isInside(path, module)) ?? path.replace(/(\/.*|(\.(test|fixture))?\.ts)$/, '');
  const permissions = rows.flatMap((row) => row.permissions);
  return {
    modules,
    moduleOf,
    rankOf: (module) => rows.find((row) => row.modules.includes(module))?.rank,
    isBelow: (lower, upper) => modules.indexOf(lower) > modules.indexOf(upper),
    permissions,
    permissionsFor: (path, specifier) =>
      permissions.filter(({ module, below, pattern }) => module === moduleOf(path) && isInside(path, below) && isMatch(specifier, pattern)),
    importersOf,
    isPure: (module) => pure.includes(module),
  };
}

function parseRows(markdown: string): readonly Row[] {
  return markdown
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, rank = '']) => rank !== '' && Number.isFinite(Number(rank)))
    .map(([, rank, cell = '', outside = '']) => {
      const modules = namesIn(cell);
      return { rank: Number(rank), modules, ...parseOutside(outside, modules) };
    });
}

function parseOutside(cell: string, modules: readonly string[]): Pick<Row, 'permissions' | 'pure'> {
  const permissions: Permission[] = [];
  const pure: string[] = [];
  const permit = (below: string, patterns: readonly string[]): void => {
    const [module] = modules.filter((name) => isInside(below, name)).toSorted((a, b) => b.length - a.length);
    if (module === undefined) throw new Error(`the layer table permits packages in ${below}, which no module of that row contains`);
    permissions.push(...patterns.map((pattern) => ({ module, below, pattern })));
  };
  for (const part of cell.split(';').map((text) => text.trim())) {
    const names = namesIn(part);
    if (part.startsWith('pure')) pure.push(...(names.length === 0 ? modules : names));
    else if (part.startsWith('in ')) permit(names[0] ?? '', names.slice(1));
    else for (const module of modules) permit(module, part === 'everything' ? ['*'] : names);
  }
  return { permissions, pure };
}

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

/** `storage` contains `storage`, `storage/lists.ts`, `storage.ts` and the tests beside it: `storage.test.ts`. */
function isInside(path: string, below: string): boolean {
  return path.startsWith(below) && /^($|\/|(\.(test|fixture))?\.ts$)/.test(path.slice(below.length));
}

/** `jose` permits `jose/errors` too; `@fastify/*` permits every package of that scope. */
function isMatch(specifier: string, pattern: string): boolean {
  if (pattern.endsWith('*')) return specifier.startsWith(pattern.slice(0, -1));
  return specifier === pattern || specifier.startsWith(`${pattern}/`);
}
