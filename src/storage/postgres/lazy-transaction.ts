import { renderSql, type Sql, sql, toLiteral } from '../../sql.ts';
import { createLazySavepoints, type LazySavepoints, type PendingSavepoints } from '../savepoints.ts';
import { type AttemptConnection, toStatement } from './connection.ts';
import { isCancelled } from './driver-error.ts';
import { type Clock, type LocalTimes, readLocalTimes } from './server-clock.ts';
import { createStatementTimeout, type StatementTimeout, type TimeoutLimits } from './statement-timeout.ts';
import type { TransactionState } from './transaction-state.ts';

/** The SQL that begins a transaction, and the clock that is set from its result. */
export interface TransactionStart {
  /** SQL text that begins a transaction. */
  readonly begin: string;
  readonly clock: Clock;
  /** The statement timeouts; undefined if `begin` sets one for the whole transaction. */
  readonly timeouts?: TimeoutLimits | undefined;
  /** True in a short attempt: if the server cancels a message of the transaction itself, the attempt ends and a long one follows. */
  readonly isShort?: boolean;
}

/** A transaction that sends BEGIN only when it is needed. */
export interface LazyTransaction extends PendingSavepoints {
  readonly isBegun: boolean;
  /** True if the transaction may have written rows or taken locks. */
  readonly isWriting: boolean;
  /** The transaction id (`pg_current_xact_id`), once the transaction writes and the server has answered. */
  readonly transactionId: string | undefined;
  /**
   * Sends BEGIN at once instead of with the first write.
   *
   * @param readsClock True to read the clock of the server. Without our settings on the connection, it is read in any case.
   */
  begin(readsClock: boolean): void;
  /** Prepares for a statement that writes or locks: sends BEGIN, if not yet sent, and queries the transaction id. */
  write(): void;
  /** Sets the timeout of the statements that follow. Before BEGIN, the timeout of the session applies. */
  setTimeout(milliseconds: number): void;
  /** Resolves when the server has answered BEGIN and the query of the transaction id. Throws their errors. */
  awaitBegin(): Promise<void>;
  /** Resolves to false if a ROLLBACK failed: the transaction may still be open on the server. True if none was sent. */
  rollbacksSucceeded(): true | Promise<boolean>;
}

const NOW = sql`(extract(epoch FROM now()) * 1000)::bigint AS "now", pg_backend_pid() AS "process"`;
const TRANSACTION_ID = sql`pg_current_xact_id()::text AS "transactionId"`;

/**
 * Creates a transaction that begins with its first write. With READ COMMITTED each statement sees the rows committed by then, so
 * statements that only read give the same result without a transaction and save two messages.
 */
export function createLazyTransaction(connection: AttemptConnection, state: TransactionState, start: TransactionStart): LazyTransaction {
  return new Work(connection, state, start);
}

/** A class and not an object with closures, because each request has two transactions, and most of them never send BEGIN. */
class Work implements LazyTransaction {
  isBegun = false;
  isWriting = false;
  transactionId: string | undefined = undefined;
  readonly #connection: AttemptConnection;
  readonly #state: TransactionState;
  readonly #start: TransactionStart;
  #savepoints: LazySavepoints | undefined = undefined;
  #timeout: StatementTimeout | undefined = undefined;
  #answers: Promise<void>[] | undefined = undefined;
  #rollbacks: Promise<boolean>[] | undefined = undefined;

  constructor(connection: AttemptConnection, state: TransactionState, start: TransactionStart) {
    this.#connection = connection;
    this.#state = state;
    this.#start = start;
  }

  begin(readsClock: boolean): void {
    this.#begin(...(readsClock ? [NOW] : []));
  }

  write(): void {
    if (this.isWriting) return;
    this.isWriting = true;
    const { timeouts } = this.#start;
    if (this.isBegun) this.#sendState(select(TRANSACTION_ID, timeouts && this.#tracked.change(timeouts.writing)));
    else this.#begin(NOW, TRANSACTION_ID);
  }

  setTimeout(milliseconds: number): void {
    const column = this.#start.timeouts === undefined || !this.isBegun ? undefined : this.#tracked.change(milliseconds);
    if (column === undefined) return;
    this.#state.follow(this.#endingIfCancelled(this.#connection.query(toStatement(select(column))))).catch(() => undefined);
  }

  /** Sends the savepoint at once in a transaction that has begun: without it a failed statement would abort the whole transaction. */
  open(name: string): void {
    this.#savepoints ??= createLazySavepoints((text) => void this.#connection.send(text).catch((error) => this.#state.note(error)));
    this.#savepoints.open(name);
    if (this.isBegun) this.#savepoints.send();
  }

  undo(name: string): void {
    this.#savepoints?.undo(name);
    this.#timeout?.forget();
  }

  release(name: string): void {
    this.#savepoints?.release(name);
  }

  async awaitBegin(): Promise<void> {
    if (this.#answers !== undefined) await Promise.all(this.#answers);
  }

  rollbacksSucceeded(): true | Promise<boolean> {
    return this.#rollbacks === undefined || Promise.all(this.#rollbacks).then((all) => all.every((done) => done));
  }

  /** Rolls everything back; the next write begins a new transaction. */
  #startOver(): void {
    this.#rollbacks ??= [];
    this.#rollbacks.push(hasSucceeded(this.#connection.send('ROLLBACK'), this.#state));
    this.isBegun = false;
    this.isWriting = false;
    this.transactionId = undefined;
  }

  get #tracked(): StatementTimeout {
    this.#timeout ??= createStatementTimeout(this.#start.timeouts?.session);
    return this.#timeout;
  }

  #begin(...columns: readonly Sql[]): void {
    this.isBegun = true;
    const { timeouts } = this.#start;
    const limit = timeouts && this.#tracked.begin(this.isWriting ? timeouts.writing : timeouts.reading);
    this.#sendBegin(limit === undefined ? columns : [...columns, limit]);
    this.#savepoints?.begin(() => this.#startOver());
  }

  /** A SELECT of its own is prepared: for PostgreSQL, its text is most of the cost of a BEGIN. Without our settings, nothing is sent before the answer. */
  #sendBegin(columns: readonly Sql[]): void {
    const { begin, timeouts } = this.#start;
    if (timeouts?.session === undefined) {
      const text = `${begin}; ${toText(select(...(columns.length === 0 ? [NOW] : columns)))}`;
      this.#follow((onSent) => this.#connection.send(text, onSent));
    } else {
      this.#follow((onSent) => this.#connection.send(begin, onSent));
      if (columns.length > 0) this.#sendState(select(...columns));
    }
  }

  #sendState(query: Sql): void {
    this.#follow((onSent) => this.#connection.query(toStatement(query), onSent));
  }

  /** A message that sets a longer timeout still runs under the one before, so a server that stalls can cancel it in a short attempt. */
  #endingIfCancelled<T>(answer: Promise<T>): Promise<T> {
    return this.#start.isShort === true
      ? answer.catch((error: unknown) => {
          throw isCancelled(error) ? this.#state.endAttempt(error) : error;
        })
      : answer;
  }

  /** Waits for an answer with a state row, or without a row. */
  #follow(send: (onSent: () => void) => Promise<unknown>): void {
    let localTimes = readLocalTimes();
    const answer = send(() => {
      localTimes = readLocalTimes();
    });
    const set = this.#state.follow(this.#endingIfCancelled(answer)).then((result) => this.#set(lastRow(result), localTimes));
    // `awaitBegin` reports the error; the statements sent after this one fail on their own.
    set.catch(() => undefined);
    this.#answers ??= [];
    this.#answers.push(set);
  }

  #set({ now, process, transactionId }: StateRow, localTimes: LocalTimes): void {
    if (now !== undefined) this.#start.clock.set(now, localTimes);
    if (process !== undefined) this.#connection.setBackendProcess(process);
    this.transactionId = transactionId ?? this.transactionId;
  }
}

/** Renders a query as text with its values, which are constants of the program. */
function toText(query: Sql): string {
  const { sql: text, parameters } = renderSql(query, (nth) => `$${nth}`);
  return text.replace(/\$(\d+)/g, (_, nth) => toLiteral(String(parameters[Number(nth) - 1])));
}

/** Returns a SELECT of columns. The timeout is set by one of them, because a statement of its own would take longer. */
function select(...columns: readonly (Sql | undefined)[]): Sql {
  return sql`SELECT ${sql.join(columns.filter((column) => column !== undefined))}`;
}

async function hasSucceeded(sent: Promise<unknown>, state: TransactionState): Promise<boolean> {
  try {
    await sent;
    return true;
  } catch (error) {
    state.note(error);
    return false;
  }
}

interface StateRow {
  readonly now?: number;
  readonly process?: number;
  readonly transactionId?: string;
}

/** Returns the row of the last statement of a message. */
function lastRow(result: unknown): StateRow {
  const last = (Array.isArray(result) ? result.at(-1) : result) as { readonly rows: readonly StateRow[] } | undefined;
  return last?.rows[0] ?? {};
}
