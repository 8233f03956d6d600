/** Evaluates a comparison through a list of references. */
import { type Json, UNKNOWN } from '../operators/index.ts';
import { all, any, type Condition, constant, type RelatedRecord, type Scope, type Some, UNRESOLVED } from './condition.ts';
import { relatedPaths } from './condition-paths.ts';
import { type WhereInScope, withRelatedRecord } from './related-evaluation.ts';

/** The record of an item that leads to none: every value is missing. */
export const WITHOUT_VALUES: RelatedRecord = Object.freeze({ id: '', valueOf: () => undefined });

/** Creates the partial evaluator of a comparison through a list, from that of its `where`. */
export function toSomeEvaluator(some: Some, where: (scope: Scope) => Condition): (scope: Scope) => Condition {
  return (scope) => {
    const items = itemsOf(scope.valueOf(some.path));
    if (items !== UNRESOLVED && items.length > some.limit) return constant(UNKNOWN);
    // An item that the list has twice adds nothing to the result.
    const records = items === UNRESOLVED ? UNRESOLVED : findItems(some, [...new Set(items)], scope);
    if (records === 'unknown') return constant(UNKNOWN);
    const found = records === UNRESOLVED ? UNRESOLVED : evaluateItems(records, some, { where, scope });
    return found === UNRESOLVED ? { ...some, where: all([where(withRelatedRecord(scope, some, UNRESOLVED))]) } : found;
  };
}

/**
 * Returns the condition that `where` is true for some record. UNRESOLVED if it still reads a field of these records, as in a comparison with a value
 * that is not known yet: outside the condition on the list, the alias has no record.
 */
function evaluateItems(
  records: readonly (RelatedRecord | undefined)[],
  some: Some,
  { where, scope }: WhereInScope,
): Condition | typeof UNRESOLVED {
  const result = any(records.map((record) => where(withRelatedRecord(scope, some, record ?? WITHOUT_VALUES))));
  return result.type === 'constant' || relatedPaths({ ...some, where: result }).length === 0 ? result : UNRESOLVED;
}

/** The items of a list: an id, or undefined for one that identifies no record. */
export type ListItems = readonly (string | undefined)[];

/** Returns the items of a list. A missing value, or one of another type, counts as an item that identifies no record. */
export function itemsOf(value: Json | undefined | typeof UNRESOLVED): ListItems | typeof UNRESOLVED {
  if (value === UNRESOLVED) return UNRESOLVED;
  return Array.isArray(value) ? value.map((item: Json) => (typeof item === 'string' ? item : undefined)) : [undefined];
}

/** Returns the record of each item; `unknown` if one is not loaded yet, UNRESOLVED if one is not known. */
export function findItems(
  some: Some,
  items: ListItems,
  { related }: Scope,
): readonly (RelatedRecord | undefined)[] | 'unknown' | typeof UNRESOLVED {
  const records: (RelatedRecord | undefined)[] = [];
  let isLoaded = true;
  for (const id of items) {
    if (id !== undefined && related === undefined) return UNRESOLVED;
    const record = id === undefined ? undefined : related?.item(some, id);
    if (record === UNRESOLVED) return UNRESOLVED;
    // The others are looked up too, so that they are loaded together.
    if (record === 'unknown') isLoaded = false;
    else records.push(record);
  }
  return isLoaded ? records : 'unknown';
}
