/**
 * Deferred writes: changes of one row, found by its version, that are sent with the commit of their unit of work, which it shares with others. The
 * unit of work has loaded the row without a lock. If the row has changed or is locked, the commit fails, and the unit of work runs again with locks.
 */
import { renderSql, sql } from '../../sql.ts';
import type { Statement } from '../contract.ts';
import type { RowUpdate } from '../row-update.ts';
import { toStatement } from './connection.ts';
import { toBound } from './prepared-query.ts';
import { STALE_FUNCTION } from './relation-checks.ts';
import { postgresDialect } from './sql-dialect.ts';

/** A write that is sent with the commit. */
export interface DeferredWrite {
  /** Identifies the write in the error of a commit that fails because of it. */
  readonly key: string;
  /** The table and the id of the row. */
  readonly row: string;
  /** The table as SQL. */
  readonly table: string;
  readonly statement: Statement;
}

/** Maximum characters of the values in the statement of a deferred write. The other units of work of the commit wait for it. */
const MAX_CHARACTERS = 2000;

/** The prefix of the key in an error if the row is locked, and has perhaps not changed. */
export const LOCKED = 'locked ';

/** The number of deferred writes so far, for their keys. */
let count = 0;

/** Returns the deferred write of a row; undefined if it is too large to be deferred. @throws Problem VALUE_INVALID */
export function toDeferredWrite({ row, table, assignments, where }: RowUpdate): DeferredWrite | undefined {
  const key = `write ${++count}`;
  // The statement must not wait for a lock, because other units of work wait for the commit.
  const locked = sql`SELECT "id" FROM ${table} WHERE ${where} FOR NO KEY UPDATE SKIP LOCKED`;
  const changed = sql`UPDATE ${table} SET ${assignments} WHERE "id" IN (SELECT "id" FROM "row") RETURNING 1`;
  const error = sql`CASE WHEN EXISTS (SELECT 1 FROM ${table} WHERE ${where}) THEN ${LOCKED + key}::text ELSE ${key}::text END`;
  const statement = toStatement(sql`WITH "row" AS (${locked}), "changed" AS (${changed})
    SELECT ${sql.raw(STALE_FUNCTION)}(json_build_array(${error})) FROM (SELECT count(*) AS "rows" FROM "changed") AS "counted" WHERE "rows" <> 1`);
  // Values are converted now: one that cannot be sent must fail its own unit of work, and not the shared commit.
  const parameters = statement.parameters.map(toBound);
  const characters = parameters.reduce<number>((total, value) => total + String(value).length, 0);
  if (characters > MAX_CHARACTERS) return undefined;
  return { key, row, table: renderSql(table, postgresDialect.placeholder).sql, statement: { ...statement, parameters } };
}

/**
 * Returns the statements of writes, in one order for all commits. They wait neither for the lock of a row nor for that of a table, which a migration
 * may hold for minutes.
 */
export function toDeferredStatements(writes: readonly DeferredWrite[]): readonly Statement[] {
  const tables = [...new Set(writes.map(({ table }) => table))].sort();
  const locks = tables.map((table): Statement => ({ sql: `LOCK TABLE ${table} IN ROW EXCLUSIVE MODE NOWAIT`, parameters: [] }));
  return [...locks, ...writes.toSorted((a, b) => (a.row < b.row ? -1 : 1)).map(({ statement }) => statement)];
}
