/** The related records and ancestors of a past decision, from the facts of its audit entry. */
import { relatedKindOf } from '../authz/context/index.ts';
import {
  type Ancestors,
  ancestorsName,
  itemName,
  type Related,
  type RelatedLookup,
  type RelatedRecord,
  relatedName,
  relatedPaths,
  type Some,
  UNRESOLVED,
  WITHOUT_VALUE,
} from '../conditions/index.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import type { Definitions } from '../resources/index.ts';

/** Options of `relatedFromFacts`. */
export interface KeptRecords {
  /** True if the conditions are those of the past decision: a value of a related record that was not kept was then missing. */
  readonly areOfDecision: boolean;
}

/** Returns the related records and ancestors that an entry has kept. Others are UNRESOLVED. */
export function relatedFromFacts(facts: JsonObject, definitions: Definitions, { areOfDecision }: KeptRecords): RelatedLookup {
  return {
    find(related, values) {
      const kept = ownValue(facts, relatedName(related, values));
      if (kept === 'unknown' || kept === 'tooMany') return kept;
      if (!Array.isArray(kept)) return UNRESOLVED;
      const records = kept.filter(isObject);
      return areOfDecision || records.every((record) => hasValuesOf(related, record)) ? records.map(toRelated) : UNRESOLVED;
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

/** Returns true if each value that a condition reads of a related record was kept, or was missing. Entries of earlier versions do not name missing values. */
function hasValuesOf(related: Related, kept: JsonObject): boolean {
  const missing = ownValue(kept, WITHOUT_VALUE);
  return relatedPaths(related).every((keys) => {
    const name = keys.join('.');
    return ownValue(kept, name) !== undefined || (Array.isArray(missing) && missing.includes(name));
  });
}

function toRelated(kept: JsonObject): RelatedRecord {
  return { id: String(ownValue(kept, 'id')), valueOf: (keys): Json | undefined => ownValue(kept, keys.join('.')) };
}
