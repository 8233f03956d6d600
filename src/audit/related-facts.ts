/** The related records and ancestors of a past decision, from the facts of its audit entry. */
import { relatedKindOf } from '../authz/context/index.ts';
import {
  type Ancestors,
  ancestorsName,
  itemName,
  type RelatedLookup,
  type RelatedRecord,
  relatedName,
  relatedPaths,
  type Some,
  UNRESOLVED,
} from '../conditions/index.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import type { Definitions } from '../resources/index.ts';

/** Returns the related records and ancestors that an entry has kept. Others are UNRESOLVED. */
export function relatedFromFacts(facts: JsonObject, definitions: Definitions): RelatedLookup {
  return {
    find(related, values) {
      const kept = ownValue(facts, relatedName(related, values));
      if (kept === 'unknown') return kept;
      const records = Array.isArray(kept) ? kept.filter(isObject) : undefined;
      return records === undefined ? UNRESOLVED : records.map(toRelated);
    },
    item(some, id) {
      const kept = ownValue(facts, itemName(some.resource, id));
      if (kept === null) return undefined;
      return isObject(kept) ? (toItem(some, kept) ?? UNRESOLVED) : UNRESOLVED;
    },
    ancestors(resource, id) {
      const kept = ownValue(facts, ancestorsName(resource, id));
      if (kept === 'unknown') return kept;
      const [ids, end] = [ownValue(kept, 'ids'), ownValue(kept, 'end')];
      return Array.isArray(ids) && isEnd(end) ? { ids: ids.map(String), end } : UNRESOLVED;
    },
    kindOf: (resource, keys) => relatedKindOf(definitions, resource, keys),
  };
}

function isEnd(kept: Json | undefined): kept is Ancestors['end'] {
  return kept === 'root' || kept === 'missing' || kept === 'limit';
}

/** Returns the record of an item of a list; undefined if a value that the condition reads was not kept. */
function toItem(some: Some, kept: JsonObject): RelatedRecord | undefined {
  const [id, values, missing] = [ownValue(kept, 'id'), ownValue(kept, 'values'), ownValue(kept, 'missing')];
  if (typeof id !== 'string' || !isObject(values) || !Array.isArray(missing)) return undefined;
  const isKept = (keys: readonly string[]): boolean => {
    const name = keys.join('.');
    return ownValue(values, name) !== undefined || missing.includes(name);
  };
  if (!relatedPaths(some).every(isKept)) return undefined;
  return { id, valueOf: (keys) => ownValue(values, keys.join('.')) };
}

function toRelated(kept: JsonObject): RelatedRecord {
  return { id: String(ownValue(kept, 'id')), valueOf: (keys): Json | undefined => ownValue(kept, keys.join('.')) };
}
