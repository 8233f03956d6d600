import type { SqlDialect } from '../operators/index.ts';
import { compose, type Sql } from '../sql.ts';

/** A statement in the database's own words, and its bound values. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Writes a line to the log: progress of long work, and problems that no request is answered with. */
export type Tell = (line: string) => void;

/** What `run` reports. */
export interface Change {
  readonly changes: number;
}

/**
 * How rows that are read are held until the transaction ends: to `change` them, to `remove` them, to `keep` them from being
 * changed, or to have them `stay` though others may change what does not identify them.
 */
export type RowLock = 'change' | 'remove' | 'keep' | 'stay';

/** A user as somebody saw them: the version of the record, 0 where there is none. */
export interface UserVersion {
  readonly id: string;
  readonly version: number;
}

/** A login, and whose it is. */
export interface UserSession {
  readonly id: string;
  readonly userId: string;
}

/** What an answer rests on: so it was when it was asked for, and so it has to be still when the answer is committed. */
export interface Basis {
  /** Stamp of the epoch. */
  readonly epoch?: string;
  /** Milliseconds since 1970, by the database's clock: until then what was relied on does not expire. */
  readonly validUntil?: number;
  readonly users?: readonly UserVersion[];
  /** Logins that have not ended. */
  readonly sessions?: readonly UserSession[];
}

/** What others may rest on and a transaction has put an end to: as it was found. */
export interface Replaced {
  /** Stamp of the epoch that another one follows. */
  readonly epoch?: string;
  /** Users who are at another version now, or gone. */
  readonly users?: readonly UserVersion[];
  /** Users some of whose logins have ended. */
  readonly sessionsOf?: readonly string[];
}

/** How rows are added to what is only ever added to: the record. */
export interface Appending<Row> {
  /**
   * What has to be asked for rows to be written. Given at once, so that it can be sent together with what comes behind it; only what
   * has to be asked before the first of all may take longer.
   */
  write(appender: Appender, rows: readonly Row[]): readonly PendingResults[] | Promise<readonly PendingResults[]>;
  /** Gives a row where this one was written: asked where a connection was lost and nobody knows. */
  find(row: Row): PendingResults;
}

/** Who appends, and in which transaction: the writer is lent to that alone until it ends. */
export interface Appender {
  readonly tx: Transaction;
  readonly writer: Writer;
}

/** What can be asked of a transaction. */
export type PendingResults = Sql | Statement;

/** The last entry of a chain: its number in it, and its hash. */
export interface Link {
  /** 1, 2, 3 …; 0 where there is none yet. */
  readonly sequence: number;
  readonly hash: string;
}

/** Who appends to the record: a chain of entries that nobody else continues. */
export interface Writer {
  readonly id: string;
  /** Set by whoever appends; undone with whatever is undone. */
  last: Link;
}

/**
 * One transaction. Inside it nothing but the transaction itself may be awaited:
 * no hashing, no network, no timer. Work that needs those does them before.
 *
 * Transactions may run side by side, each statement seeing what others have committed by then. So whatever is read to be relied on
 * when something is written is held by `rowLock`, and what is not there yet by `lock`; a database that runs them one after the
 * other makes nothing of either. After a statement has failed, nothing but the end of the savepoint it is in may follow.
 */
export interface Transaction {
  readonly dialect: SqlDialect;
  /** Milliseconds since 1970 by the clock that the database goes by; the same for the whole of `transaction`. */
  readonly now: number;
  /** A small number: transactions that run at the same time rarely have the same. Rows that all of them count in are split by it. */
  readonly lane: number;
  all<Row = Record<string, unknown>>(query: PendingResults): Promise<readonly Row[]>;
  /** The first row, or undefined. */
  one<Row = Record<string, unknown>>(query: PendingResults): Promise<Row | undefined>;
  run(query: PendingResults): Promise<Change>;
  /**
   * Adds rows when the work is done: committed with what it wrote, or, where it wrote nothing, together with those of other works. What
   * is added in a savepoint is undone with it. The rows' tables must not be read in the same transaction.
   */
  append<Row>(appending: Appending<Row>, rows: readonly Row[]): Promise<void>;
  /** Runs `work`; where it throws, what it wrote is undone and the error goes on. */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
  /** Waits until no other transaction holds the name, and holds it until this one ends. */
  lock(name: string): Promise<void>;
  /** What ends a SELECT of one table to hold the rows that it gives. */
  rowLock(lock: RowLock): Sql;
  /**
   * Says what the answer rests on. Where others have changed it by the time that it would be committed, nothing is, and the work is
   * run again; it throws where that is known already. What was said stays said, whatever is undone.
   */
  restsOn(basis: Basis): void;
  /**
   * Says what of that this transaction has changed itself: whoever rests on it and has not committed when this one does is run again.
   * So is this one, where it rests on something else than it found. Undone with what was written.
   */
  replaces(replaced: Replaced): void;
}

/** Constraint errors of the driver, in our words; the driver's own text stays in `cause`. */
export class ConstraintError extends Error {
  override name = 'ConstraintError';
  readonly constraint: 'unique' | 'reference' | 'check';
  /** Table and columns concerned, where the driver says them. */
  readonly table: string | undefined;
  readonly columns: readonly string[];
  constructor(constraint: 'unique' | 'reference' | 'check', where: { table?: string; columns?: readonly string[]; cause: unknown }) {
    super(`${constraint} constraint`, { cause: where.cause });
    this.constraint = constraint;
    this.table = where.table;
    this.columns = where.columns ?? [];
  }
}

/** A whole copy of a database, made before something was to be lost. */
export interface Backup {
  readonly file: string;
  /** Its name among the automatic backups, wherever they are by the time that somebody looks for it. */
  readonly name: string;
  readonly bytes: number;
  /** What it was made for is done: the oldest of those made by themselves go, all but the number to keep. */
  settle(): void;
  /** What it was made for was not done. */
  discard(): void;
}

/** Makes backups of a database by itself. */
export interface Backups {
  /**
   * Copies what is committed, durably. Synchronous, so that a transaction can have it made while it holds the lock: what it
   * wrote itself is not in it.
   *
   * @param label What it is made for, such as the hash of a plan; a part of the name.
   * @throws SetupError where it cannot be made.
   */
  make(label: string): Backup;
}

/** How a transaction goes on. */
export interface TransactionOptions {
  /** For work that may take minutes, such as a change of tables: limits of time that keep requests short do not end it. */
  readonly patient?: boolean;
}

/** What a database has done since it was opened, and how it stands. Plain numbers, counted as it goes: whoever watches reads them. */
export interface DatabaseFigures {
  /** Commits by which something was written. */
  readonly commits: number;
  /** Works that were committed so: more than commits where several share one. */
  readonly works: number;
  /** Works that wait to be begun. */
  readonly waiting: number;
  /** Works that were run again because what they rested on was no longer so when they were to be committed. */
  readonly guardRetries: number;
  /** Connections to a server that are open; 0 of a file. */
  readonly connections: number;
  /** Those of them that nobody uses. */
  readonly idleConnections: number;
}

/** Who is told of each commit by which something was written. */
export interface CommitWatch {
  committed(commit: CommitFigures): void;
}

/** What a commit took, and how many works it was for. */
export interface CommitFigures {
  readonly ms: number;
  readonly works: number;
}

/** A database: transactions that are durable when they resolve. */
export interface Database {
  readonly dialect: SqlDialect;
  /**
   * Runs `work` in a transaction and resolves with its answer once that is durable. Several calls may share one commit.
   * Where others stand in its way, `work` may be run again, in another transaction: what it leaves outside of it must not depend on how often.
   * Where `work` throws, what it wrote is undone and the error is thrown on. Where the commit fails: STORAGE_UNAVAILABLE, nothing is kept.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Whether the last commit worked; `/readyz` shows it. */
  readonly healthy: boolean;
  /**
   * Returns the reason why the service is not ready although the last commit worked; `/readyz` shows it, so it contains no secrets.
   * Undefined if there is no reason.
   */
  readonly fault?: string | undefined;
  /** Has a commit written that changes nothing; `healthy` is what came of it. Never throws. */
  prove(): Promise<void>;
  /** As they are at the moment that they are read. */
  readonly figures: DatabaseFigures;
  /** Undefined where there is no file of ours to copy: in memory, or on a server, which has its own tools for it. */
  readonly backups?: Backups | undefined;
  /** Commits what is queued and closes. */
  close(): Promise<void>;
}

/** Rows that a work adds, and how. */
export interface Appended {
  readonly appending: Appending<unknown>;
  readonly rows: readonly unknown[];
}

/** What has to be asked for all of them to be written: those that are written in one way at once. */
export async function statementsOf(appender: Appender, appended: readonly Appended[]): Promise<readonly PendingResults[]> {
  const statements: PendingResults[] = [];
  for (const [appending, same] of Map.groupBy(appended, (one) => one.appending)) {
    const said = appending.write(
      appender,
      same.flatMap(({ rows }) => rows),
    );
    statements.push(...(said instanceof Promise ? await said : said));
  }
  return statements;
}

/** What finds the first of them; undefined where there are none. */
export function findingOf([first]: readonly Appended[]): PendingResults | undefined {
  return first?.appending.find(first.rows[0]);
}

/** What can be asked of a transaction: a text with its values, or a template that is one once it is put together. */
export type Query = Sql | Statement;

/**
 * Makes queries texts with values.
 *
 * @param placeholder What stands for the nth value, counted from 1.
 */
export function createStatements(placeholder: (nth: number) => string): (query: Query) => Statement {
  return (query) => ('parameters' in query ? query : compose(query, placeholder));
}

/** Seconds that the clocks of several processes may differ: in the times of tokens, in what logins count, and from the clock of the database. */
export const CLOCK_LEEWAY_SECONDS = 30;
