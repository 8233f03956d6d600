import { type RawBuilder, sql } from 'kysely';
import { all, type Condition, toSql } from '../condition/index.ts';
import { Problem } from '../errors.ts';
import { fromRow, type Resource, type Row, type StoredRecord } from '../resource/index.ts';
import type { Transaction } from './database.ts';
import { type ListQuery, listRecords } from './list.ts';
import { columnOf, selectionOf, tableOf } from './names.ts';
import { sqlTargetFor } from './sql-target.ts';

/** Which records are looked for: those that refer to some others, as far as the condition holds. */
export interface ReferringQuery extends Pick<ListQuery, 'where' | 'scopeFor' | 'definitions' | 'scanLimit' | 'now' | 'timeZone'> {
  /** The reference. */
  readonly field: string;
  /** Ids of the records referred to. */
  readonly to: readonly string[];
  /** How many for each of those: the first in the order of their own ids. */
  readonly limit: number;
}

/**
 * The records that refer to each of some others, by the id referred to: one statement, however many those are. What SQL
 * cannot say is tried record by record; where that would be too many, REQUEST_PARAMETER, for a part would pass for all.
 */
export async function loadReferring(
  tx: Transaction,
  resource: Resource,
  query: ReferringQuery,
): Promise<ReadonlyMap<string, readonly StoredRecord[]>> {
  const { where, definitions, now, timeZone, field } = query;
  const target = sqlTargetFor(resource, definitions, { dialect: tx.dialect, now, timeZone });
  const compiled = toSql(where, target);
  const records = compiled.exact
    ? await selectFirst(tx, resource, { ...query, tables: target.tables(), filter: compiled.where })
    : await scanAll(tx, resource, query);
  return firstOfEach(
    Map.groupBy(records, (record) => String(record[field])),
    query.limit,
  );
}

interface Selection extends ReferringQuery {
  readonly tables: RawBuilder<unknown>;
  readonly filter: RawBuilder<unknown>;
}

async function selectFirst(tx: Transaction, resource: Resource, query: Selection): Promise<readonly StoredRecord[]> {
  const { field, to, limit, tables, filter } = query;
  const [id, reference] = [columnOf(resource, 'id'), columnOf(resource, field)];
  const wanted = tx.dialect.listItems(sql`${JSON.stringify(to)}`);
  const ranked = sql`
    SELECT ${id} AS "id", row_number() OVER (PARTITION BY ${reference} ORDER BY ${id}) AS "place"
    FROM ${tables} WHERE ${reference} IN (SELECT value FROM ${wanted}) AND (${filter})`;
  const rows = await tx.all<Row>(sql`
    SELECT ${selectionOf(resource)} FROM ${tableOf(resource)}
    WHERE ${id} IN (SELECT "id" FROM (${ranked}) AS "ranked" WHERE "place" <= ${limit}) ORDER BY ${id}`);
  return rows.map((row) => fromRow(resource, row));
}

async function scanAll(tx: Transaction, resource: Resource, query: ReferringQuery): Promise<readonly StoredRecord[]> {
  const refers: Condition = {
    type: 'comparison',
    path: { group: 'resource', keys: [query.field], text: `resource.${query.field}` },
    operator: 'in',
    operand: { type: 'literal', value: query.to },
    ifExists: false,
  };
  const page = await listRecords(tx, resource, { ...query, where: all([refers, query.where]), sort: [], limit: query.scanLimit });
  if (page.next === undefined) return page.records;
  throw new Problem(
    'REQUEST_PARAMETER',
    `expand: a condition on ${resource.name} would have to be tried on too many records one by one; expected a smaller limit`,
  );
}

function firstOfEach(groups: ReadonlyMap<string, readonly StoredRecord[]>, limit: number): ReadonlyMap<string, readonly StoredRecord[]> {
  return new Map([...groups].map(([id, records]) => [id, records.slice(0, limit)]));
}
