/** The layer table of ARCHITECTURE.md. */
export interface Layers {
  /** Layer by module; a greater one is higher. */
  readonly layerOf: ReadonlyMap<string, number>;
  /** Whether a file, by its path below the sources, may import a package or a `node:` module. */
  mayImport(path: string, specifier: string): boolean;
  /** Modules that alone may import a module, where the document says so: "`settings` is read by `service` and `main` alone". */
  readonly readersOf: ReadonlyMap<string, readonly string[]>;
  /** Whether a module is pure: nothing of the outside world is allowed to it, and nothing below it touches a database. */
  isPure(module: string): boolean;
}

/** A permission: files whose path starts with `below` may import what matches `pattern`. */
interface Grant {
  readonly below: string;
  readonly pattern: string;
}

/** The first layer that has to do with databases, and so with time and waiting. */
const FIRST_IMPURE_LAYER = 4;

/** Reads the table whose first column is `layer`: | number | `module`, … | `package`, …; in `folder` also `package`, … | */
export function readLayers(markdown: string): Layers {
  const rows = markdown.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const layerOf = new Map<string, number>();
  const grants: Grant[] = [];
  for (const [, layer = '', modules = '', outside = ''] of rows) {
    if (layer === '' || !Number.isFinite(Number(layer))) continue;
    for (const module of namesIn(modules)) {
      layerOf.set(module, Number(layer));
      grants.push(...readGrants(module, outside));
    }
  }
  if (layerOf.size === 0) throw new Error('ARCHITECTURE.md has no layer table: a row is | number | `module` | `package` |');
  const isInside = (path: string, below: string): boolean => path === `${below}.ts` || path.startsWith(`${below}/`);
  return {
    layerOf,
    readersOf: new Map(
      [...markdown.matchAll(/`([^`]+)` is read by (.*?) alone/gs)].map(([, module = '', readers = '']) => [module, namesIn(readers)]),
    ),
    mayImport: (path, specifier) => grants.some(({ below, pattern }) => isInside(path, below) && isMatch(specifier, pattern)),
    isPure: (module) => (layerOf.get(module) ?? FIRST_IMPURE_LAYER) < FIRST_IMPURE_LAYER && !grants.some(({ below }) => below === module),
  };
}

function readGrants(module: string, outside: string): readonly Grant[] {
  if (outside === 'everything') return [{ below: module, pattern: '*' }];
  const [base = '', ...exceptions] = outside.split(';');
  const grants = namesIn(base).map((pattern) => ({ below: module, pattern }));
  for (const exception of exceptions) {
    const [below = '', ...patterns] = namesIn(exception);
    if (below.split('/')[0] === module) grants.push(...patterns.map((pattern) => ({ below, pattern })));
  }
  return grants;
}

function namesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

/** `jose` allows `jose/errors` too; `@fastify/*` and `node:*` allow what they say. */
function isMatch(specifier: string, pattern: string): boolean {
  if (pattern.endsWith('*')) return specifier.startsWith(pattern.slice(0, -1));
  return specifier === pattern || specifier.startsWith(`${pattern}/`);
}
