/**
 * Loads the related records of the caller before a list, so that the list needs no search of related records for each of its rows. The statement of
 * the list finds most of them itself.
 */
import type { RelatedRecords } from '../../authz/context/index.ts';
import { type Condition, compileCondition, type Related, relatedIn, replaceRelated, type Scope } from '../../conditions/index.ts';
import { type Definitions, hasIndexOn, type Resource } from '../../resources/index.ts';
import type { Transaction } from '../contract.ts';
import { createRelatedStore } from '../related/related-records.ts';
import { findsForAllRows, listTargetFor } from './sql-target.ts';

/** Maximum related records that are loaded for one condition before a list. */
const MAX_BEFORE_LIST = 1000;

/** The condition of a list, and its scope. */
export interface RelatedList {
  readonly where: Condition;
  /** The listed resource. */
  readonly resource: Resource;
  readonly definitions: Definitions;
  /** Returns the scope of the list, in which the record is UNRESOLVED. */
  scopeWith(related?: RelatedRecords): Scope;
  /** True to load records that no index finds as well. Tests set it, because their resources have no indexes. */
  readonly withoutIndex?: boolean;
}

/**
 * Returns a condition with the same result for each record, in which comparisons replace the conditions on related records of the caller, if an index
 * finds these records and there are at most 1,000 of them.
 */
export async function loadRelatedOfList(tx: Transaction, list: RelatedList): Promise<Condition> {
  const { where, resource: listed, definitions, scopeWith, withoutIndex = false } = list;
  const counted = relatedIn(where);
  if (counted.length === 0) return where;
  const target =
    findsForAllRows(tx) && !withoutIndex ? listTargetFor(tx, listed, { definitions, now: tx.now, timeZone: 'UTC' }) : undefined;
  // In memory, a condition that stays would load related records for each row.
  const isInMemory = target === undefined || !compileCondition(where, target).exact;
  const isInStatement = (each: Related): boolean => !isInMemory && target.related?.(each)?.ofAllRows !== undefined;
  if (counted.every(isInStatement)) return where;
  const related = createRelatedStore(tx, definitions);
  const scope = scopeWith(related);
  const isIndexed = (name: string, fields: readonly string[]): boolean => {
    const resource = definitions.get(name);
    return resource !== undefined && (withoutIndex || hasIndexOn(resource, fields));
  };
  const replaced = await related.evaluate(
    () => replaceRelated(where, { scope, maxRecords: MAX_BEFORE_LIST, isIndexed, isInStatement }),
    async () => where,
  );
  related.noteReads({ isPartial: true });
  return replaced;
}
