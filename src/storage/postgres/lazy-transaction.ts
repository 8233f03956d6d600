import type pg from 'pg';
import { renderSql, type Sql, sql, toLiteral } from '../../sql.ts';
import { createLazySavepoints, type LazySavepoints, type PendingSavepoints } from '../savepoints.ts';
import { type AttemptConnection, toStatement } from './connection.ts';
import { isCancelled } from './driver-error.ts';
import { type Clock, readLocalTimes } from './server-clock.ts';
import { createStatementTimeout, type TimeoutLimits } from './statement-timeout.ts';
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
export interface LazyTransaction {
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
  readonly savepoints: PendingSavepoints;
  /** Resolves when the server has answered BEGIN and the query of the transaction id. Throws their errors. */
  awaitBegin(): Promise<void>;
  /** Resolves to false if a ROLLBACK failed: the transaction may still be open on the server. */
  rollbacksSucceeded(): Promise<boolean>;
}

const NOW = sql`(extract(epoch FROM now()) * 1000)::bigint AS "now", pg_backend_pid() AS "process"`;
const TRANSACTION_ID = sql`pg_current_xact_id()::text AS "transactionId"`;

/**
 * Creates a transaction that begins with its first write. With READ COMMITTED each statement sees the rows committed by then, so
 * statements that only read give the same result without a transaction and save two messages.
 */
export function createLazyTransaction(connection: AttemptConnection, state: TransactionState, start: TransactionStart): LazyTransaction {
  const { timeouts } = start;
  const timeout = createStatementTimeout(timeouts?.session);
  const sent = { isBegun: false, isWriting: false, transactionId: undefined as string | undefined };
  const { sendBegin, sendState, sendLimit, answers } = createSending(connection, state, { start, sent });

  const rollbacks: Promise<boolean>[] = [];
  /** Rolls everything back; the next write begins a new transaction. */
  function startOver(): void {
    rollbacks.push(hasSucceeded(connection.send('ROLLBACK'), state));
    Object.assign(sent, { isBegun: false, isWriting: false, transactionId: undefined });
  }

  const savepoints = createLazySavepoints((text) => void connection.send(text).catch(state.note));
  function open(...columns: readonly Sql[]): void {
    sent.isBegun = true;
    const limit = timeouts && timeout.begin(sent.isWriting ? timeouts.writing : timeouts.reading);
    sendBegin([...columns, ...(limit === undefined ? [] : [limit])]);
    savepoints.begin(startOver);
  }

  return Object.assign(sent, {
    begin: (readsClock: boolean) => open(...(readsClock ? [NOW] : [])),
    write() {
      if (sent.isWriting) return;
      sent.isWriting = true;
      if (sent.isBegun) sendState(select(TRANSACTION_ID, timeouts && timeout.change(timeouts.writing)));
      else open(NOW, TRANSACTION_ID);
    },
    setTimeout(milliseconds: number) {
      const column = timeouts === undefined || !sent.isBegun ? undefined : timeout.change(milliseconds);
      if (column !== undefined) sendLimit(select(column));
    },
    savepoints: {
      open: (name: string) => openSavepoint(savepoints, name, sent),
      undo(name: string) {
        savepoints.undo(name);
        timeout.forget();
      },
      release: savepoints.release,
    },
    awaitBegin: async () => void (await Promise.all(answers)),
    rollbacksSucceeded: async () => (await Promise.all(rollbacks)).every((done) => done),
  });
}

interface Sending {
  readonly start: TransactionStart;
  /** Gets the transaction id that the server answers. */
  readonly sent: { transactionId: string | undefined };
}

/**
 * Creates the functions that send statements which return a state row, or which set a timeout, and the list of answers with a state row. A message
 * that sets a longer timeout still runs under the one before, so a server that stalls can cancel it in a short attempt.
 */
function createSending(connection: AttemptConnection, state: TransactionState, { start, sent }: Sending) {
  const { begin, clock, isShort = false, timeouts } = start;
  const answers: Promise<void>[] = [];
  const endIfCancelled = (error: unknown): never => {
    throw isShort && isCancelled(error) ? state.endAttempt(error) : error;
  };
  function follow(send: () => Promise<StateRow>): void {
    const localTimes = readLocalTimes();
    const answer = state
      .follow(() => send().catch(endIfCancelled))
      .then((row) => {
        if (row.now !== undefined) clock.set(row.now, localTimes);
        if (row.process !== undefined) connection.setBackendProcess(row.process);
        sent.transactionId = row.transactionId ?? sent.transactionId;
      });
    // `awaitBegin` reports the error; the statements sent after this one fail on their own.
    answer.catch(() => undefined);
    answers.push(answer);
  }
  const sendState = (query: Sql): void => follow(async () => (await connection.query(toStatement(query))).rows[0] ?? {});

  /** A SELECT of its own is prepared: for PostgreSQL, its text is most of the cost of a BEGIN. Without our settings, nothing is sent before the answer. */
  function sendBegin(columns: readonly Sql[]): void {
    if (timeouts?.session === undefined) {
      const text = `${begin}; ${toText(select(...(columns.length === 0 ? [NOW] : columns)))}`;
      follow(async () => lastRow(await connection.send(text)));
    } else {
      follow(() => connection.send(begin).then(() => ({})));
      if (columns.length > 0) sendState(select(...columns));
    }
  }
  const sendLimit = (query: Sql): void =>
    void state.follow(() => connection.query(toStatement(query)).catch(endIfCancelled)).catch(() => undefined);
  return { sendBegin, sendState, sendLimit, answers };
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

/** Sends the savepoint at once in a transaction that has begun: without it a failed statement would abort the whole transaction. */
function openSavepoint(savepoints: LazySavepoints, name: string, { isBegun }: Pick<LazyTransaction, 'isBegun'>): void {
  savepoints.open(name);
  if (isBegun) savepoints.send();
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

/** Returns the row of the last statement in a message with several. */
function lastRow(result: unknown): StateRow {
  const last = (Array.isArray(result) ? result.at(-1) : result) as pg.QueryResult<StateRow> | undefined;
  return last?.rows[0] ?? {};
}
