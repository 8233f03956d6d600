import { all, type Condition, compileCondition, conditionPaths } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import type { Resource, StoredRecord } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { describeLimit } from '../budget.ts';
import { checkedRecordsOf } from '../checksums/checked-records.ts';
import { loadAllIntact, loadedSelectionOf } from '../checksums/intact-records.ts';
import type { Transaction } from '../contract.ts';
import type { ListQuery } from '../lists/list-query.ts';
import { listRecords } from '../lists/record-lists.ts';
import { type ResourceTarget, sqlTargetFor } from '../lists/sql-target.ts';
import { rowsPerStatement } from '../row-size.ts';
import { columnOf, quoteName, recordsOf, selectionOf } from '../table-names.ts';

/** A search for the records that reference others and match a condition. */
export interface ReferencingQuery extends Pick<ListQuery, 'where' | 'scopeFor' | 'definitions' | 'budget' | 'now' | 'timeZone'> {
  /** The reference field. */
  readonly field: string;
  /** Ids of the referenced records. */
  readonly to: readonly string[];
  /** Maximum records for each referenced record, in the order of their ids. */
  readonly limit: number;
}

/**
 * Loads the records that reference each of the given records. Returns them by the referenced id. Uses one statement if SQL can evaluate the
 * condition exactly. Otherwise evaluates it in memory; if the budget does not suffice, throws REQUEST_BUDGET, because a partial result would
 * look complete.
 */
export function loadReferencing(
  tx: Transaction,
  resource: Resource,
  query: ReferencingQuery,
): Promise<ReadonlyMap<string, readonly StoredRecord[]>> {
  const { where, definitions, now, timeZone } = query;
  const target = sqlTargetFor(resource, definitions, { dialect: tx.dialect, now, timeZone });
  const compiled = compileCondition(where, target);
  return query.budget.search(() =>
    compiled.exact ? selectEach(tx, resource, { ...query, target, filter: compiled.where }) : scanEach(tx, resource, query),
  );
}

interface Selection extends ReferencingQuery {
  readonly target: ResourceTarget;
  readonly filter: Sql;
}

/** A LIMIT above the size of every table: it keeps the database from choosing the plan of the subquery by the outer filter. */
const ALL = Number.MAX_SAFE_INTEGER;

/** Selects the referencing records of as many referenced records at once as one statement may load. */
async function selectEach(tx: Transaction, resource: Resource, query: Selection): Promise<ReadonlyMap<string, readonly StoredRecord[]>> {
  const found: StoredRecord[] = [];
  const size = Math.max(1, Math.floor(rowsPerStatement(resource) / query.limit));
  for (let at = 0; at < query.to.length; at += size)
    found.push(...(await selectSome(tx, resource, { ...query, to: query.to.slice(at, at + size) })));
  query.budget.addRows(found.length);
  return Map.groupBy(found, (record) => String(record[query.field]));
}

/**
 * Selects the first `limit` referencing records of each referenced record. The database reads them along the index of the reference and
 * stops at the limit, so a record with very many references costs no more than others.
 */
function selectSome(tx: Transaction, resource: Resource, query: Selection): Promise<readonly StoredRecord[]> {
  const { field, to, limit, target, filter } = query;
  const [id, reference] = [columnOf(resource, 'id'), columnOf(resource, field)];
  const records = recordsOf(resource);
  const read = checkedRecordsOf(tx, resource, { paths: conditionPaths(query.where) });
  const own = sql`(
    SELECT ${selectionOf(resource)} FROM ${read} WHERE ${reference} = "$wanted"."id" ORDER BY ${id} LIMIT ${ALL}) AS ${sql.raw(quoteName(resource.name))}`;
  const first = sql`SELECT ${id} FROM ${target.tables(own)} WHERE ${filter} ORDER BY ${id} LIMIT ${limit}`;
  const selected = sql`
    SELECT ${loadedSelectionOf(resource)}
    FROM (SELECT value AS "id" FROM ${tx.dialect.listItems(sql`${JSON.stringify(to)}`)}) AS "$wanted" JOIN ${records}
    ON ${tx.dialect.isGivenBy(id, first)}
    ORDER BY ${id}`;
  return loadAllIntact(tx, resource, selected);
}

async function scanEach(
  tx: Transaction,
  resource: Resource,
  query: ReferencingQuery,
): Promise<ReadonlyMap<string, readonly StoredRecord[]>> {
  const found = new Map<string, readonly StoredRecord[]>();
  for (const id of query.to) {
    const { records, truncated } = await listRecords(tx, resource, {
      ...query,
      where: all([refersTo(id, query.field), query.where]),
      sort: [],
    });
    if (truncated) throw toExpandProblem(resource, describeLimit(query.budget.limits, truncated));
    if (records.length > 0) found.set(id, records);
  }
  return found;
}

function toExpandProblem(resource: Resource, limit: string): Problem {
  return new Problem('REQUEST_BUDGET', `expand: the search for referencing ${resource.name} records has reached the limit of ${limit}`, {
    hint: 'ask for a smaller limit, or expand fewer names',
  });
}

function refersTo(id: string, field: string): Condition {
  return {
    type: 'comparison',
    path: { group: 'resource', keys: [field], text: `resource.${field}` },
    operator: 'eq',
    operand: { type: 'literal', value: id },
    ifExists: false,
  };
}
