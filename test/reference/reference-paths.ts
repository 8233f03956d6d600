/** Parses the paths of conditions for the reference decider. Each text is parsed once, because it is read for every record. */
import type { Json } from '../../src/operators/index.ts';

/** A parsed path. */
export interface ReferencePath {
  readonly group: string;
  /** The names after the group. */
  readonly keys: readonly string[];
  /** The text after the group. */
  readonly rest: string;
  /** The texts that end with each name, after the group: `parentId` and `parentId.ownerId`. */
  readonly parts: readonly string[];
  /** The same texts with the group: `resource.parentId` and `resource.parentId.ownerId`. */
  readonly wholes: readonly string[];
}

const parsed = new Map<string, ReferencePath>();
const lone = new Map<string, string | undefined>();
const within = new Map<string, readonly string[]>();
/** Texts that are kept. Random policies have few paths, and many other texts. */
const MAX_KEPT = 10_000;

/** Parses a path such as `resource.parentId.ownerId`. */
export function parsePath(path: string): ReferencePath {
  return kept(parsed, path, () => {
    const [group = '', ...keys] = path.split('.');
    const parts = keys.map((_, index) => keys.slice(0, index + 1).join('.'));
    return { group, keys, rest: keys.join('.'), parts, wholes: parts.map((part) => `${group}.${part}`) };
  });
}

/** Returns the path of a text that is a lone reference, `${path}`. */
export function onlyPath(value: Json): string | undefined {
  if (typeof value !== 'string' || !value.startsWith('${')) return undefined;
  return kept(lone, value, () => /^\$\{([^}]*)\}$/.exec(value)?.[1]);
}

/** Returns the paths of all references in a text. */
export function pathsIn(text: string): readonly string[] {
  if (!text.includes('${')) return [];
  return kept(within, text, () => [...text.matchAll(/\$\{([^}]*)\}/g)].map(([, path = '']) => path));
}

function kept<Value>(texts: Map<string, Value>, text: string, parse: () => Value): Value {
  const known = texts.get(text);
  if (known !== undefined) return known;
  const value = parse();
  if (texts.size < MAX_KEPT) texts.set(text, value);
  return value;
}
