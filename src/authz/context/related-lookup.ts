/** The related records of a scope. */
import { type PathKind, type RelatedLookup, type RelatedRecord, UNRESOLVED } from '../../conditions/index.ts';
import { type Json, type JsonObject, ownValue } from '../../operators/index.ts';
import { type Definitions, fieldAt, kindAt, type Resource } from '../../resources/index.ts';
import type { ReferencedRecords, RelatedRecords } from './reached-records.ts';

/** The related resource, one of its records, and the records that its references lead to. */
export interface RelatedSource {
  readonly definitions: Definitions;
  readonly resource: Resource;
  readonly record: JsonObject & { readonly id: string };
  readonly referenced: ReferencedRecords;
}

/** Returns a record as conditions read it: without secret fields. */
export function toRelatedRecord({ definitions, resource, record, referenced }: RelatedSource): RelatedRecord {
  return {
    id: record.id,
    valueOf(keys) {
      const [name = ''] = keys;
      // A field of the record itself needs no path, and every comparison reads one.
      if (keys.length === 1) return resource.fields.get(name)?.writeOnly === false ? ownValue(record, name) : undefined;
      const reached = fieldAt(definitions, resource, keys);
      if (reached === undefined || reached.field.writeOnly) return undefined;
      const { via, field, inner } = reached;
      const holder = via.length === 0 ? record : referenced.get(['resource', ...via.map((followed) => followed.field.name)].join('.'));
      return valueInside(ownValue(holder, field.name), inner);
    },
  };
}

function valueInside(value: Json | undefined, keys: readonly string[]): Json | undefined {
  return keys.reduce<Json | undefined>((at, key) => (Array.isArray(at) ? undefined : ownValue(at, key)), value);
}

/** The records that conditions can count, and the record that is decided. */
interface RelatedInput {
  readonly records: RelatedRecords;
  readonly definitions: Definitions;
  /** The name of the resource of the record that is decided. */
  readonly resource: string;
  /** The id of the record that is decided, which is not related to itself; undefined for a new record, UNRESOLVED if it is not known yet. */
  readonly own: string | undefined | typeof UNRESOLVED;
}

/** Returns the related records as conditions look them up. */
export function toRelatedLookup({ records, definitions, resource, own }: RelatedInput): RelatedLookup {
  return {
    find(related, values) {
      const isOwnResource = related.resource === resource;
      if (isOwnResource && own === UNRESOLVED) return UNRESOLVED;
      const found = records.find(related, values);
      if (found === 'unknown') return found;
      const others = isOwnResource ? found.filter(({ id }) => id !== own) : found;
      return others.length > related.limit ? 'tooMany' : others;
    },
    item: (some, id) => records.item(some, id),
    ancestors: (name, id) => records.ancestors(name, id),
    kindOf: (name, keys) => relatedKindOf(definitions, name, keys),
  };
}

/** Returns the kind of the values at the keys of a path into a related resource. */
export function relatedKindOf(definitions: Definitions, name: string, keys: readonly string[]): PathKind | undefined {
  const resource = definitions.get(name);
  const reached = resource && fieldAt(definitions, resource, keys);
  return reached === undefined || reached.inner.length > 0 ? undefined : kindAt(definitions, reached);
}
