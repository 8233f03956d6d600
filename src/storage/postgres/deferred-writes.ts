/**
 * Deferred writes: writes of one row that are sent with the commit of their unit of work, which it shares with others. The unit of work has read
 * without locks what the write depends on: the row to change, or the rows that a new row references and those with its unique values. If one of them has
 * changed or is locked, the commit fails, and the unit of work runs again with locks.
 */
import { memoize } from '../../memoize.ts';
import { renderSql, type Sql, sql } from '../../sql.ts';
import type { Query, Statement } from '../contract.ts';
import { type RecordIds, type RowInsertion, type RowUpdate, referencedBy } from '../row-writes.ts';
import { quoteName, recordsOf, tableOf } from '../table-names.ts';
import { toStatement } from './connection.ts';
import { toBound } from './prepared-query.ts';
import { STALE_FUNCTION } from './relation-checks.ts';
import { postgresDialect, toArrayLiteral } from './sql-dialect.ts';

/** A write that is sent with the commit: a statement, or a row that is inserted together with others. */
export interface DeferredWrite {
  /** Identifies the write in the error of a commit that fails because of it. */
  readonly key: string;
  /** The table and the id of the row, and its unique values. While one write is not settled, another one with an equal text waits, and its unit of work then runs again. */
  readonly holds: readonly string[];
  /** The SQL that locks the tables of the statement without waiting. */
  readonly locks: readonly string[];
  readonly write: { readonly update: Statement } | { readonly insertion: RowInsertion };
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
  const update = toBoundStatement(statement);
  return update && { key, holds: [row], locks: [toLock(table, 'ROW EXCLUSIVE')], write: { update } };
}

/** Returns the deferred insertion of a row; undefined if it is too large to be deferred. @throws Problem VALUE_INVALID */
export function toDeferredInsertion(insertion: RowInsertion): DeferredWrite | undefined {
  const { row, table, references, uniqueValues } = insertion;
  const statement = toBoundStatement(insertion.statement);
  if (statement === undefined) return undefined;
  const locks = [toLock(table, 'ROW EXCLUSIVE'), ...references.map(({ target }) => toLock(tableOf(target), 'ROW SHARE'))];
  return { key: `write ${++count}`, holds: [row, ...uniqueValues], locks, write: { insertion: { ...insertion, statement } } };
}

/** A deferred insertion, and its key. */
interface KeyedInsertion extends RowInsertion {
  readonly key: string;
}

const columnNames = new WeakMap<RowInsertion['columns'], Sql>();

/**
 * Renders the insertion of rows of one table. It does not insert a row whose unique value is taken, and does not find a referenced record that is locked. The
 * statement then fails with the keys of these rows, so that only their units of work run again.
 */
function insertionSql(rows: readonly KeyedInsertion[]): Sql {
  const [{ table, columns, references }] = rows as [KeyedInsertion];
  const names = memoize(columnNames, columns, () => sql.raw(columns.map(({ name }) => quoteName(name)).join(', ')));
  const values = columns.map(({ type }, at) => ({ type, values: rows.map(({ statement }) => statement.parameters[at]) }));
  const given = postgresDialect.rowsOf?.([...values, { type: 'text', values: rows.map(({ key }) => MAY_SUCCEED + key) }]);
  const locks = referencedBy(rows).map((referenced, nth) => ({ ...referenced, name: sql.raw(`"#locked${nth}"`) }));
  const missing = references.map(({ at, target }) => {
    const locked = locks.find(({ resource }) => resource.name === target.name)?.name;
    const name = sql.raw(quoteName(columns[at]?.name ?? ''));
    return sql` OR ${name} IS NOT NULL AND ${name} NOT IN (SELECT "id" FROM ${locked})`;
  });
  return sql`WITH "#given" (${names}, "#key") AS (${given}),
    "#inserted" AS (INSERT INTO ${table} (${names}) SELECT ${names} FROM "#given" ON CONFLICT DO NOTHING RETURNING "id")
    ${sql.join(
      locks.map((lock) => sql`, ${lock.name} AS (${lockingSql(lock)})`),
      sql``,
    )}
    SELECT ${STALE}(json_agg("#key")) FROM "#given" WHERE "id" NOT IN (SELECT "id" FROM "#inserted")${sql.join(missing, sql``)} HAVING count(*) > 0`;
}

/** Renders the SELECT that locks referenced records. The foreign keys lock them too, but would wait for them. */
function lockingSql({ resource, ids }: RecordIds): Sql {
  // The text is the same for any number of ids.
  return sql`SELECT "id" FROM ${recordsOf(resource)} WHERE "id" = ANY (${toArrayLiteral(ids)}::text[]) FOR KEY SHARE SKIP LOCKED`;
}

/**
 * Converts the values now: one that cannot be sent must fail its own unit of work, and not the shared commit. Returns undefined if the statement is too
 * large.
 */
function toBoundStatement({ sql: text, parameters: given }: Statement): Statement | undefined {
  const parameters = given.map(toBound);
  const characters = parameters.reduce<number>((total, value) => total + String(value).length, 0);
  return characters > MAX_CHARACTERS ? undefined : { sql: text, parameters };
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
  const locks = [...new Set(writes.flatMap((each) => each.locks))].map((text): Statement => ({ sql: text, parameters: [] }));
  const updates = writes.flatMap(({ write }) => ('update' in write ? [write.update] : []));
  // In one order for all commits, because an insertion may wait for another commit with the same unique values.
  const insertions = writes
    .flatMap(({ key, write }) => ('insertion' in write ? [{ ...write.insertion, key }] : []))
    .sort((a, b) => (firstHold(a) < firstHold(b) ? -1 : 1));
  // Each resource has one array of columns.
  const alike = Map.groupBy(insertions, ({ columns }) => columns);
  return [...locks, ...updates, ...(alike.size > 0 ? [LIMIT_WAIT, ...[...alike.values()].map(insertionSql)] : [])];
}

function firstHold({ uniqueValues, row }: RowInsertion): string {
  return uniqueValues[0] ?? row;
}

/** Returns true if one of the writes may wait for another transaction: `toDeferredStatements` then limits all waits for locks. */
export function mayWait(writes: readonly DeferredWrite[]): boolean {
  return writes.some(({ write }) => 'insertion' in write);
}

const LIMIT_WAIT = sql`SELECT set_config('bailiwick.lock_timeout', current_setting('lock_timeout'), true), set_config('lock_timeout', ${String(MAX_WAIT)}::text, true)`;

/** A FROM item that restores the limit of the waits for locks. */
export const RESTORE_WAIT = "(SELECT set_config('lock_timeout', current_setting('bailiwick.lock_timeout'), true)) AS \"restored\"";
