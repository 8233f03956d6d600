import { type Sql, sql } from '../../sql.ts';

/** The statement timeouts of one attempt at a unit of work, in milliseconds. */
export interface TimeoutLimits {
  /** The statement timeout of the session; undefined if each transaction sets its own. */
  readonly session: number | undefined;
  /** The timeout of statements that read, until the attempt writes or locks. Shorter than that of statements that may wait for locks. */
  readonly reading: number;
  /** The timeout of statements that may wait for locks. */
  readonly writing: number;
}

/** Tracks the `statement_timeout` of a transaction, and renders the SQL that changes it. */
export interface StatementTimeout {
  /** Call when BEGIN is sent. Returns the column that sets the timeout for the next statements; undefined if the session has this timeout. */
  begin(milliseconds: number): Sql | undefined;
  /** Returns the column that sets the timeout for the next statements; undefined if the transaction has this timeout already. */
  change(milliseconds: number): Sql | undefined;
  /** Call after a rollback to a savepoint, which also undoes changes of the timeout. */
  forget(): void;
}

/** A timeout is kept while it is at most this much longer than the time that is left, so that few statements change it. */
const TOLERANCE = 25;

/** Creates the tracker of `statement_timeout` for a transaction that has not begun. */
export function createStatementTimeout(session: number | undefined): StatementTimeout {
  return new TrackedTimeout(session);
}

class TrackedTimeout implements StatementTimeout {
  readonly #session: number | undefined;
  #current: number | undefined = undefined;

  constructor(session: number | undefined) {
    this.#session = session;
  }

  begin(milliseconds: number): Sql | undefined {
    this.#current = this.#session;
    return this.change(milliseconds);
  }

  change(milliseconds: number): Sql | undefined {
    // The server takes 0 for no limit.
    const wanted = Math.max(1, Math.ceil(milliseconds));
    const current = this.#current;
    if (current !== undefined && current >= wanted && current <= wanted + TOLERANCE) return undefined;
    this.#current = wanted;
    return sql`set_config('statement_timeout', ${String(wanted)}, true)`;
  }

  forget(): void {
    this.#current = undefined;
  }
}
