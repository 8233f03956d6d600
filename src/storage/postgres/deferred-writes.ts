/**
 * Deferred writes: writes of one row that are sent with the commit of their unit of work, which it shares with others. The unit of work has read
 * without locks what the write depends on: the row to change, or the rows that a new row references and those with its unique values. If one of them has
 * changed or is locked, the commit fails, and the unit of work runs again with locks.
 */
import { renderSql, type Sql, sql } from '../../sql.ts';
import type { Query, Statement } from '../contract.ts';
import type { RecordIds, RowInsertion, RowUpdate } from '../row-writes.ts';
import { existingIds, tableOf } from '../table-names.ts';
import { toStatement } from './connection.ts';
import { toBound } from './prepared-query.ts';
import { STALE_FUNCTION } from './relation-checks.ts';
import { postgresDialect } from './sql-dialect.ts';

/** A write that is sent with the commit. */
export interface DeferredWrite {
  /** Identifies the write in the error of a commit that fails because of it. */
  readonly key: string;
  /** The table and the id of the row, and its unique values. While one write is not settled, another one with an equal text waits, and its unit of work then runs again. */
  readonly holds: readonly string[];
  /** The SQL that locks the tables of the statement without waiting. */
  readonly locks: readonly string[];
  readonly statement: Statement;
  /** True for an insertion: it waits for another transaction that writes the same unique value. Indexes of administrators can be unique too. */
  readonly mayWait: boolean;
}

/** Maximum characters of the values in the statement of a deferred write. The other units of work of the commit wait for it. */
const MAX_CHARACTERS = 2000;
/** Maximum milliseconds of each wait for a transaction that writes the same unique value. */
const MAX_WAIT = 20;

/** The prefix of the key in an error if the write may succeed later: a row is locked, or a referenced one is gone and may be restored. */
export const MAY_SUCCEED = 'may succeed: ';

const STALE = sql.raw(STALE_FUNCTION);

/** The number of deferred writes so far, for their keys. */
let count = 0;

/** Returns the deferred change of a row; undefined if it is too large to be deferred. @throws Problem VALUE_INVALID */
export function toDeferredUpdate({ row, table, assignments, where }: RowUpdate): DeferredWrite | undefined {
  const key = `write ${++count}`;
  // The statement must not wait for a lock, because other units of work wait for the commit.
  const locked = sql`SELECT "id" FROM ${table} WHERE ${where} FOR NO KEY UPDATE SKIP LOCKED`;
  const changed = sql`UPDATE ${table} SET ${assignments} WHERE "id" IN (SELECT "id" FROM "#row") RETURNING 1`;
  const error = sql`CASE WHEN EXISTS (SELECT 1 FROM ${table} WHERE ${where}) THEN ${MAY_SUCCEED + key}::text ELSE ${key}::text END`;
  const statement = toStatement(sql`WITH "#row" AS (${locked}), "#changed" AS (${changed})
    SELECT ${STALE}(json_build_array(${error})) FROM (SELECT count(*) AS "rows" FROM "#changed") AS "counted" WHERE "rows" <> 1`);
  return toDeferred({ key, holds: [row], locks: [toLock(table, 'ROW EXCLUSIVE')], statement, mayWait: false });
}

/** Returns the deferred insertion of a row; undefined if it is too large to be deferred. @throws Problem VALUE_INVALID */
export function toDeferredInsertion({ row, table, statement, references, uniqueValues }: RowInsertion): DeferredWrite | undefined {
  const key = `write ${++count}`;
  // The foreign keys lock the referenced rows too, but would wait for them.
  const locked = references.map((each) => sql` + (SELECT count(*) FROM (${lockingSql(each)} SKIP LOCKED) AS "locked")`);
  const expected = references.reduce((sum, { ids }) => sum + ids.length, 1);
  const first = statement.parameters.length;
  const check = renderSql(
    sql`SELECT ${STALE}(json_build_array(${MAY_SUCCEED + key}::text))
      WHERE (SELECT count(*) FROM "#inserted")${sql.join(locked, sql``)} <> ${expected}::bigint`,
    (nth) => `$${first + nth}`,
  );
  return toDeferred({
    key,
    holds: [row, ...uniqueValues],
    locks: [toLock(table, 'ROW EXCLUSIVE'), ...references.map(({ resource }) => toLock(tableOf(resource), 'ROW SHARE'))],
    statement: {
      // A row with the same unique value must fail this unit of work, and not the shared commit.
      sql: `WITH "#inserted" AS (${statement.sql} ON CONFLICT DO NOTHING RETURNING 1) ${check.sql}`,
      parameters: [...statement.parameters, ...check.parameters],
    },
    mayWait: true,
  });
}

/** Renders the SELECT that locks referenced records, so that they are not deleted before the commit. */
export function lockingSql(references: RecordIds): Sql {
  return sql`${existingIds(postgresDialect, references)} FOR KEY SHARE`;
}

/** Converts the values now: one that cannot be sent must fail its own unit of work, and not the shared commit. */
function toDeferred(write: DeferredWrite): DeferredWrite | undefined {
  const parameters = write.statement.parameters.map(toBound);
  const characters = parameters.reduce<number>((total, value) => total + String(value).length, 0);
  return characters > MAX_CHARACTERS ? undefined : { ...write, statement: { ...write.statement, parameters } };
}

/** Renders the lock that a statement takes on a table. A migration may lock the table for minutes. */
function toLock(table: Sql, mode: 'ROW EXCLUSIVE' | 'ROW SHARE'): string {
  return renderSql(sql`LOCK TABLE ${table} IN ${sql.raw(mode)} MODE NOWAIT`, postgresDialect.placeholder).sql;
}

/**
 * Returns the statements of writes. They wait neither for the lock of a row nor for that of a table, and only for milliseconds for another
 * transaction that writes the same unique value.
 */
export function toDeferredStatements(writes: readonly DeferredWrite[]): readonly Query[] {
  const locks = [...new Set(writes.flatMap((write) => write.locks))].map((text): Statement => ({ sql: text, parameters: [] }));
  const others = writes.filter((write) => !write.mayWait).map(({ statement }) => statement);
  const waiting = writes.filter((write) => write.mayWait).map(({ statement }) => statement);
  return [...locks, ...others, ...(waiting.length > 0 ? [LIMIT_WAIT, ...waiting] : [])];
}

/** Returns true if one of the writes may wait for another transaction: `toDeferredStatements` then limits all waits for locks. */
export function mayWait(writes: readonly DeferredWrite[]): boolean {
  return writes.some((write) => write.mayWait);
}

const LIMIT_WAIT = sql`SELECT set_config('bailiwick.lock_timeout', current_setting('lock_timeout'), true), set_config('lock_timeout', ${String(MAX_WAIT)}::text, true)`;

/** A FROM item that restores the limit of the waits for locks. */
export const RESTORE_WAIT = "(SELECT set_config('lock_timeout', current_setting('bailiwick.lock_timeout'), true)) AS \"restored\"";
