/** Writes that a commit may share with those of other units of work: they can neither be refused nor wait for long. */
import { memoize } from '../memoize.ts';
import { hasIndexOn, type Resource, type Row, uniqueKeysOf } from '../resources/index.ts';

/** Returns true if a unique index contains one of the fields, or its condition reads it. */
export function changesUnique(resource: Resource, names: readonly string[]): boolean {
  return uniqueKeysOf(resource).some(({ fields, where = {} }) => names.some((name) => fields.includes(name) || Object.hasOwn(where, name)));
}

/** Maximum characters of all indexed values of a row together. PostgreSQL refuses an entry of an index with more than about 2,700 bytes. */
const MAX_INDEXED = 800;

const indexed = new WeakMap<Resource, readonly string[]>();

/** Returns true if the values of a row are short enough for each index. */
export function fitsIndexes(resource: Resource, row: Row): boolean {
  const names = memoize(indexed, resource, () => [...resource.fields.keys()].filter((name) => isIndexed(resource, name)));
  return names.reduce((total, name) => total + String(row[name] ?? '').length, 0) <= MAX_INDEXED;
}

function isIndexed(resource: Resource, name: string): boolean {
  return hasIndexOn(resource, [name]) || resource.indexes.some(({ fields }) => fields.includes(name));
}
