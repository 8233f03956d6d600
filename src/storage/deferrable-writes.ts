/** Writes that a commit may share with those of other units of work: they can neither be refused nor wait for long. */
import type { Field } from '../fields/index.ts';
import { memoize } from '../memoize.ts';
import { type JsonObject, ownValue } from '../operators/index.ts';
import { type Resource, uniqueKeysOf } from '../resources/index.ts';

/** Returns true if a unique index contains one of the fields, or its condition reads it. */
export function changesUnique(resource: Resource, names: readonly string[]): boolean {
  return uniqueKeysOf(resource).some(({ fields, where = {} }) => names.some((name) => fields.includes(name) || Object.hasOwn(where, name)));
}

/** Maximum characters of all indexed values of a record together. PostgreSQL refuses an entry of an index with more than about 2,700 bytes. */
const MAX_INDEXED = 800;

const indexed = new WeakMap<Resource, readonly string[]>();

/** Returns true if the values of a whole record are short enough for each index. */
export function fitsIndexes(resource: Resource, record: JsonObject): boolean {
  const names = memoize(indexed, resource, indexedFields);
  return names.reduce((total, name) => total + String(ownValue(record, name) ?? '').length, 0) <= MAX_INDEXED;
}

function indexedFields({ fields, indexes }: Resource): readonly string[] {
  const isIndexed = ({ name, index, unique, to }: Field): boolean =>
    index || unique || to !== undefined || indexes.some(({ fields: of }) => of.includes(name));
  return [...fields.values()].filter(isIndexed).map(({ name }) => name);
}
