/**
 * The contract that SQLite and PostgreSQL implement: `Database` opens transactions, and `Transaction` is the handle that a unit of work
 * gets. The other types are their parameters and results.
 */
import type { SqlDialect } from '../operators/index.ts';
import { renderSql, type Sql } from '../sql.ts';
import type { TimedAttempt } from './attempt.ts';
import type { ReadTracking } from './read-set.ts';
import type { RowInsertion, RowUpdate, RowUpdateOptions } from './row-writes.ts';

/** SQL text of one database, and its bound values. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /**
   * Set for a statement without parameters that most units of work run, such as the query of the revision: in a commit batch of SQLite, its row
   * is read again only after a write.
   */
  readonly keepsRow?: true;
  /**
   * Set for a statement that reads at most one row by its key, has only texts as parameters, and locks nothing: on PostgreSQL, it is combined with
   * those of other units of work until its own begins to write.
   */
  readonly isLookup?: true;
}

/** A statement, or an SQL template, which is rendered to a statement with the placeholders of the database. */
export type Query = Sql | Statement;

/** Writes a line to the log: the progress of long operations, and problems that belong to no request. */
export type Log = (line: string) => void;

/** The first row of each of several queries; undefined for a query without rows, and for an absent query. */
export type FirstRows = readonly (Readonly<Record<string, unknown>> | undefined)[];

/** The number of rows that a statement changed. */
export interface Change {
  readonly changes: number;
}

/**
 * A row lock until the end of the transaction, named as in PostgreSQL: `noKeyUpdate` to change the row, `update` to delete it, `share` to
 * keep it unchanged, `keyShare` to keep it from being deleted while others may change it.
 */
export type RowLock = 'noKeyUpdate' | 'update' | 'share' | 'keyShare';

/** Options of a row lock. */
export interface RowLockOptions {
  /** True if a search that can take long follows before the first write. On SQLite, a long attempt then goes on until it writes. */
  readonly beforeSearch?: boolean;
}

/** Creates the statements that append rows to an append-only table, such as the audit log. */
export interface AppendStatements<Row> {
  /**
   * Returns the statements that write `rows`. The result is synchronous, so that these statements are sent in one message with the
   * statements after them. Only for the first rows of a chain, which need a query before, the result is a promise.
   */
  write(context: AppendContext, rows: readonly Row[]): readonly Query[] | Promise<readonly Query[]>;
  /** Returns a query that selects the row if it was committed. The query is run to resolve an in-doubt commit. */
  findCommitted(row: Row): Query;
}

/** The transaction that appends rows, and the chain writer that it holds until its end. */
export interface AppendContext {
  readonly tx: Transaction;
  readonly writer: ChainWriter;
}

/** The last entry of a hash chain: its number in the chain, and its hash. */
export interface ChainLink {
  /** The position in the chain: 1, 2, 3 …; 0 for an empty chain. */
  readonly sequence: number;
  readonly hash: string;
}

/** A writer of the audit log. It continues one chain of entries that no other writer continues. */
export interface ChainWriter {
  readonly id: string;
  /** IANA name of the time zone in which the process decides; undefined if it decides nothing. The chain stores it. */
  readonly timeZone: string | undefined;
  /** The last entry of the chain. Set when rows are appended; restored when the transaction is rolled back. */
  last: ChainLink;
}

/**
 * A transaction. A unit of work awaits nothing but its transaction: no hashing, no network, no timer. Work that needs them runs before the
 * transaction.
 *
 * Transactions may run concurrently (READ COMMITTED on PostgreSQL). A unit of work must therefore lock the rows that its writes depend on:
 * existing rows with `rowLock`, missing rows with `lock`. SQLite has one writer and ignores both locks. After a failed statement, only the
 * end of its savepoint may follow.
 */
export interface Transaction extends TimedAttempt, ReadTracking {
  readonly dialect: SqlDialect;
  /** Milliseconds since 1970 by the clock of the database; the same during the whole transaction. */
  readonly now: number;
  /** Returns the slot of the connection, a small number that concurrent transactions rarely share. Shared counters are split by it. */
  slot(): number;
  all<Row = Record<string, unknown>>(query: Query): Promise<readonly Row[]>;
  /** Returns the first row, or undefined. */
  one<Row = Record<string, unknown>>(query: Query): Promise<Row | undefined>;
  /** Returns the first row of each query, or undefined. The queries are sent together, in this order. */
  oneOfEach(queries: readonly (Query | undefined)[]): Promise<FirstRows>;
  run(query: Query): Promise<Change>;
  /** Changes a row. Returns false if there is no such row and the row was locked; without a lock, the unit of work runs again. */
  updateRow(update: RowUpdate, options: RowUpdateOptions): Promise<boolean>;
  /** Inserts a row, perhaps only at the commit. If one of its references is gone, the unit of work runs again. Throws ConstraintError. */
  insertRow(insertion: RowInsertion): Promise<void>;
  /**
   * Appends rows when the unit of work ends: in the commit of its writes, or, if it wrote nothing but what was deferred, in a commit
   * shared with other units of work. A rollback to a savepoint removes the rows. The transaction must not read the tables of the rows.
   */
  append<Row>(statements: AppendStatements<Row>, rows: readonly Row[]): void;
  /** Runs `work` in a savepoint. If `work` throws, rolls back the writes of `work` and rethrows the error. */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
  /** Waits for the locks with these names, in one order for all transactions, and holds them until the transaction ends. */
  lock(...names: readonly string[]): Promise<void>;
  /** Returns the clause that locks the rows of a SELECT from one table. On SQLite, a long attempt ends, because the unit of work will write. */
  rowLock(lock: RowLock, options?: RowLockOptions): Sql;
}

/** A violated constraint. The driver's error stays in `cause`. */
export class ConstraintError extends Error {
  override name = 'ConstraintError';
  readonly constraint: 'unique' | 'reference' | 'check';
  /** Table and columns concerned, if the driver reports them. */
  readonly table: string | undefined;
  readonly columns: readonly string[];
  constructor(constraint: 'unique' | 'reference' | 'check', where: { table?: string; columns?: readonly string[]; cause: unknown }) {
    super(`${constraint} constraint`, { cause: where.cause });
    this.constraint = constraint;
    this.table = where.table;
    this.columns = where.columns ?? [];
  }
}

/** An automatic backup: a copy of the whole database, made before a change that loses data. */
export interface Backup {
  readonly file: string;
  /** File name, which stays valid when the folder of the backups moves. */
  readonly name: string;
  readonly bytes: number;
  /** Deletes the oldest automatic backups above the configured number. Call it after the change was made. */
  complete(): void;
  /** Deletes this backup. Call it if the change was not made. */
  discard(): void;
}

/** Makes automatic backups of a database. */
export interface Backups {
  /**
   * Copies the committed state durably. Synchronous, so that a transaction can call it while it holds the write lock; the copy does not
   * contain the writes of that transaction.
   *
   * @param label Part of the name: the purpose of the backup, such as the hash of a migration plan.
   * @throws SetupError if the copy cannot be made.
   */
  create(label: string): Backup;
}

/** Options of a transaction. */
export interface TransactionOptions {
  /** True for work that may take minutes, such as a migration: the time limits of requests do not apply. */
  readonly unlimited?: boolean;
  /** True for work that is known to take long, such as an export: begins with the long attempt. */
  readonly beginsLong?: boolean | undefined;
  /** The maximum milliseconds of a long attempt; 30,000 if absent. `limitTime` lowers it when the caller is known. */
  readonly milliseconds?: number | undefined;
  /** A text that identifies the caller, for example the user id or `toAnonymousCaller`. Callers take turns in the queue of long attempts. */
  readonly caller?: string | undefined;
  /**
   * Number of records that the work is known to write. On PostgreSQL, few units of work with many records run at the same time, because each
   * occupies a connection for seconds, and callers take turns. SQLite writes for one at a time.
   */
  readonly writes?: number | undefined;
}

/** Counters and gauges of a database since it was opened. Plain numbers; the metrics endpoint reads them. */
export interface DatabaseMetrics {
  /** Commits that wrote something. */
  readonly commits: number;
  /** Units of work in those commits: more than commits if several share one. */
  readonly unitsOfWork: number;
  /** Units of work that wait to begin. */
  readonly waiting: number;
  /** Units of work that ran again because commit validation found their read set stale. */
  readonly validationRetries: number;
  /** Long attempts that run now. */
  readonly longAttempts: number;
  /** Long attempts that wait to begin. */
  readonly longWaiting: number;
  /** Long attempts that were refused because too many were waiting. */
  readonly longRefused: number;
  /** Open connections to a server; 0 for a file. */
  readonly connections: number;
  readonly idleConnections: number;
}

/** Observes the commits that wrote something. */
export interface CommitObserver {
  committed(commit: CommitMetrics): void;
}

/** The duration of a commit, and the number of units of work in it. */
export interface CommitMetrics {
  readonly ms: number;
  readonly unitsOfWork: number;
}

/** A database. Its transactions are durable when they resolve. */
export interface Database {
  readonly dialect: SqlDialect;
  /**
   * Runs a unit of work in a transaction and resolves with its answer once the commit is durable. Several calls may share one commit. After
   * a conflict, `work` runs again in another transaction, so `work` must have no effects outside of its transaction. If `work` throws, its
   * writes are rolled back and the error is rethrown. If the commit fails, throws STORAGE_UNAVAILABLE and stores nothing.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** True if the last commit succeeded; `/readyz` shows it. */
  readonly healthy: boolean;
  /**
   * The reason why the service is not ready although the last commit succeeded; undefined if there is none. `/readyz` shows it, so it
   * contains no secrets.
   */
  readonly fault?: string | undefined;
  /** Commits a transaction that changes nothing, and sets `healthy` from its outcome. Never throws. */
  probe(): Promise<void>;
  /** The current values of the metrics. */
  readonly metrics: DatabaseMetrics;
  /**
   * The automatic backups; undefined if none are configured, for a database in memory, and for a server, which has backup tools of its own.
   */
  readonly backups?: Backups | undefined;
  /** Commits the queued units of work and closes the database. */
  close(): Promise<void>;
}

/** Rows that a unit of work appends, and the statements that append them. */
export interface PendingAppend {
  readonly statements: AppendStatements<unknown>;
  readonly rows: readonly unknown[];
}

/** Implements `oneOfEach` with `one`. Does not return or throw before all queries have ended: the connection cannot be used before. */
export async function oneOfEach(tx: Pick<Transaction, 'one'>, queries: readonly (Query | undefined)[]): Promise<FirstRows> {
  const results = await Promise.allSettled(queries.map((query) => query && tx.one(query)));
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** Returns the statements that write all pending rows; rows with the same statements are written together. A promise like that of `write`. */
export function toAppendStatements(
  context: AppendContext,
  appends: readonly PendingAppend[],
): readonly Query[] | Promise<readonly Query[]> {
  const [first] = appends;
  if (first === undefined) return [];
  const { statements } = first;
  if (!appends.every((append) => append.statements === statements)) return toStatementsOfEach(context, appends);
  return statements.write(context, appends.length === 1 ? first.rows : appends.flatMap(({ rows }) => rows));
}

async function toStatementsOfEach(context: AppendContext, appends: readonly PendingAppend[]): Promise<readonly Query[]> {
  const queries: Query[] = [];
  for (const same of Map.groupBy(appends, ({ statements }) => statements).values())
    queries.push(...(await toAppendStatements(context, same)));
  return queries;
}

/** Returns the query that selects the first pending row if it was committed; undefined if no row is pending. */
export function toFindStatement([first]: readonly PendingAppend[]): Query | undefined {
  return first?.statements.findCommitted(first.rows[0]);
}

/**
 * Creates the function that turns queries into statements.
 *
 * @param placeholder Renders the placeholder of the nth value, counted from 1.
 */
export function createStatements(placeholder: (nth: number) => string): (query: Query) => Statement {
  return (query) => ('parameters' in query ? query : renderSql(query, placeholder));
}

/**
 * Maximum seconds by which clocks may differ: the clocks of several processes (token times, login counts), and the clocks of process and
 * database.
 */
export const CLOCK_LEEWAY_SECONDS = 30;
