/** The related records and ancestors of a past decision, from the facts of its audit entry. */
import { relatedKindOf } from '../authz/context/index.ts';
import { type Ancestors, ancestorsName, type RelatedLookup, type RelatedRecord, relatedName, UNRESOLVED } from '../conditions/index.ts';
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

function toRelated(kept: JsonObject): RelatedRecord {
  return { id: String(ownValue(kept, 'id')), valueOf: (keys): Json | undefined => ownValue(kept, keys.join('.')) };
}
