import { didYouMean } from '../errors.ts';
import { memoize } from '../memoize.ts';
import { describeValue } from '../operators/index.ts';
import { CONTEXT_GROUPS, type ContextGroup, type Path } from './condition.ts';

const MAX_LENGTH = 256;
const MAX_KEYS = 16;

/** Names that every JavaScript object inherits. A path with one of them is rejected. */
const INHERITED: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** A parsed path, or the mistake in its text. */
export type ParsedPath = { readonly path: Path } | { readonly problem: string };

/** The names with which a path may begin, in addition to the groups of the context. */
export interface PathOrigin {
  /** The group of a path without one. */
  readonly context?: ContextGroup | undefined;
  /** The aliases of the related records that the path may read. */
  readonly aliases?: readonly string[] | undefined;
}

/** Parses a dotted path: `user.department`, `department` with the context `user`, or `m.level` with the alias `m`. */
export function parsePath(text: string, { context, aliases = [] }: PathOrigin = {}): ParsedPath {
  if (text.length > MAX_LENGTH) return { problem: `expected a path of at most ${MAX_LENGTH} characters, given ${text.length}` };
  const segments = text.split('.');
  const [first = ''] = segments;
  if (context !== undefined && isGroup(first) && first !== context) {
    return { problem: `path "${text}" begins with ${first}, but the context is ${context}` };
  }
  const isRelated = context === undefined && aliases.includes(first);
  const group = isGroup(first) ? first : isRelated ? 'related' : context;
  if (group === undefined) {
    const names = [...CONTEXT_GROUPS, ...aliases];
    const near = didYouMean(first, names) || ` (did you mean ${describeValue(`${aliases.at(-1) ?? 'resource'}.${text}`)}?)`;
    return { problem: `expected a path that begins with ${names.join(', ')}, given ${describeValue(text)}${near}` };
  }
  const keys = isGroup(first) || isRelated ? segments.slice(1) : segments;
  const problem = keyProblem(keys);
  if (problem !== undefined) return { problem: `${problem} in path ${describeValue(text)}` };
  return { path: pathOf(group, isRelated ? segments : keys) };
}

/** One object per path, so that callers can compare and cache paths by identity. At `MAX_PATHS`, the oldest path is evicted. */
const paths = new Map<string, Path>();
const MAX_PATHS = 10_000;

function pathOf(group: Path['group'], keys: readonly string[]): Path {
  const text = (group === 'related' ? keys : [group, ...keys]).join('.');
  return memoize(paths, text, () => {
    const oldest = paths.size >= MAX_PATHS ? paths.keys().next().value : undefined;
    if (oldest !== undefined) paths.delete(oldest);
    return Object.freeze({ group, keys: Object.freeze(keys), text });
  });
}

/** Returns whether a name is a group of the context. */
export function isGroup(name: string): name is ContextGroup {
  return CONTEXT_GROUPS.some((group) => group === name);
}

/** Returns the path of a field of a related record. */
export function relatedPath(alias: string, field: string): Path {
  return pathOf('related', [alias, field]);
}

/** Returns the path of a list that a path follows: its first `length` keys. */
export function listPath({ group, keys }: Path, length: number): Path {
  const list = keys.slice(0, length);
  // The alias may be the text of another path, so a path that begins with it is not cached.
  return group === 'related' ? Object.freeze({ group, keys: Object.freeze(list), text: list.join('.') }) : pathOf(group, list);
}

/** Returns the path of a value of the records of a list, with the text of the path through the list. Not cached, because that path has the same text. */
export function itemPath(list: Path, keys: readonly string[]): Path {
  return Object.freeze({ group: 'related', keys: Object.freeze([list.text, ...keys]), text: `${list.text}.${keys.join('.')}` });
}

function keyProblem(keys: readonly string[]): string | undefined {
  if (keys.length === 0) return 'expected a field after the group, given none';
  if (keys.length > MAX_KEYS) return `expected at most ${MAX_KEYS} names, given ${keys.length}`;
  if (keys.some((key) => key === '')) return 'expected a name between dots, given none';
  const inherited = keys.find((key) => INHERITED.includes(key));
  if (inherited !== undefined) return `"${inherited}" cannot be read`;
  return keys.some((key) => /[\s${}\p{Cc}]/u.test(key)) ? 'expected names without spaces, control characters, $ and braces' : undefined;
}
