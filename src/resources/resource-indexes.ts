import { memoize } from '../memoize.ts';
import type { Resource, ResourceIndex } from './resource.ts';

const indexes = new WeakMap<Resource, readonly ResourceIndex[]>();

/** Returns the indexes of a resource: those of its definition, and those of its fields. References are indexed, because a deletion searches for referencing records. */
export function indexesOf(resource: Resource): readonly ResourceIndex[] {
  return memoize(indexes, resource, collectIndexes);
}

function collectIndexes({ indexes: defined, fields, softDelete }: Resource): readonly ResourceIndex[] {
  const all: ResourceIndex[] = [...defined];
  for (const { name, unique, index } of fields.values()) if (unique || index) all.push({ fields: [name], unique });
  // With soft deletes, a unique index leaves out deleted records.
  const indexesAll = ({ unique, where }: ResourceIndex): boolean => where === undefined && !(unique && softDelete);
  for (const { name, to } of fields.values())
    if (to !== undefined && !all.some((index) => indexesAll(index) && index.fields[0] === name))
      all.push({ fields: [name], unique: false });
  return all;
}

/** Returns true if an index finds few records by the values of fields: the id, a unique field, or an index that begins with all of the fields. */
export function hasIndexOn(resource: Resource, names: readonly string[]): boolean {
  const isKey = (name: string): boolean => name === 'id' || resource.fields.get(name)?.unique === true;
  if (names.some(isKey)) return true;
  const [only, ...others] = names;
  const field = resource.fields.get(only ?? '');
  if (others.length === 0 && (field?.index === true || field?.to !== undefined)) return true;
  return resource.indexes.some(({ fields, where }) => {
    const first = fields.slice(0, names.length);
    return where === undefined && names.every((name) => first.includes(name));
  });
}

/**
 * Returns true if an index has the records with the same values of some fields in an order: it begins with one or more of these fields, followed by those
 * of the order. The last key of each order is the id. If one of the fields is unique, at most one record has the values.
 */
export function hasIndexInOrder(resource: Resource, known: ReadonlySet<string>, order: readonly string[]): boolean {
  if (known.has('id') || [...known].some((name) => resource.fields.get(name)?.unique === true)) return true;
  return indexesOf(resource).some(({ fields, where }) => {
    const first = fields.length - order.length;
    if (where !== undefined || first <= 0) return false;
    return fields.every((name, index) => (index < first ? known.has(name) : name === order[index - first]));
  });
}
