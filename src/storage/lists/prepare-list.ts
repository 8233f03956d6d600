import { whereTrue } from '../../authz/decision/index.ts';
import { type Condition, readsOtherRecords, withinIn } from '../../conditions/index.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { writeMarksSql } from '../write-marks.ts';
import { compileList } from './compile-list.ts';
import { loadDescendantsOfList } from './descendant-list.ts';
import type { ListQuery, MarkedState, Restriction } from './list-query.ts';
import { resourcesReadBy } from './listed-records.ts';
import { loadRelatedOfList, type RelatedList } from './related-list.ts';
import { findsForAllRows } from './sql-target.ts';

/** The condition of a list, before records that it reads are loaded. */
interface UnpreparedList extends RelatedList, Pick<ListQuery, 'existence' | 'timeZone'> {}

/**
 * Returns the condition of a list, in which comparisons with values that are loaded now replace conditions on related records and on ancestors. The
 * condition stays, and is compiled, if the statement of the list finds the related records of all rows.
 */
export async function prepareList(
  tx: Transaction,
  list: UnpreparedList,
): Promise<Pick<Restriction, 'where' | 'findsByValues' | 'loadedFrom' | 'compiled'>> {
  const { where, resource, definitions, existence, timeZone } = list;
  if (!readsOtherRecords(where)) return { where };
  const compiled = findsForAllRows(tx)
    ? compileList(tx, resource, { condition: where, definitions, existence, now: tx.now, timeZone })
    : undefined;
  if (compiled?.compiled.exact && !compiled.compiled.searchesForEachRow) return { where, compiled };
  // Sent in this order: a change after the marks were read makes the total of the list stale.
  const [loadedFrom, replaced] = await Promise.all([loadMarkedState(tx, list), replaceOtherRecords(tx, list)]);
  return replaced === undefined ? { where, compiled } : { where: replaced, findsByValues: true, loadedFrom };
}

/** Loads the write marks of the resources whose records a condition reads; undefined where a transaction sees one state, or if no commit validates it. */
async function loadMarkedState(tx: Transaction, { where, resource, definitions }: UnpreparedList): Promise<MarkedState | undefined> {
  if (tx.dialect.name === 'sqlite' || !tx.validatesReads) return undefined;
  const dependsOn = resourcesReadBy(where, { resource, definitions });
  if (dependsOn.size === 0) return undefined;
  const row = await tx.one<{ marks: string }>(sql`SELECT ${writeMarksSql(dependsOn)} AS "marks"`);
  return { dependsOn, marks: row?.marks ?? '' };
}

/** Replaces conditions on related records and on ancestors. Returns undefined if it replaces none. */
async function replaceOtherRecords(tx: Transaction, list: RelatedList): Promise<Condition | undefined> {
  const { where, definitions, scopeWith } = list;
  const counted = await loadRelatedOfList(tx, list);
  const { kindOf } = scopeWith();
  const replaced = await loadDescendantsOfList(tx, { where: whereTrue(counted), definitions, kindOf });
  return counted !== where || withinIn(replaced).length < withinIn(where).length ? replaced : undefined;
}
