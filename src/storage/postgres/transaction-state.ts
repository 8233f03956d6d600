import { Problem } from '../../errors.ts';
import { AttemptEnded } from '../attempt.ts';
import { internal } from '../savepoints.ts';
import { busy, fromDriver, isConnectionLost, type RetryReason, retryReason, SharedConnectionFailed, serverCode } from './driver-error.ts';

/**
 * The state of one attempt at a unit of work.
 *
 * | member | set by | effect |
 * | --- | --- | --- |
 * | `failure` | the first error | is thrown instead of the errors that only follow from it |
 * | `broken` | an error that makes the connection unusable | later statements are refused; the connection is closed |
 * | `lost` | a lost connection | together with `committing`, the commit is in doubt |
 * | `committing` | sending COMMIT; cleared if the server refuses it | after an error, no ROLLBACK is sent |
 * | `ended` | the commit, or the end of the attempt | later statements are refused |
 * | `needsBlocking` | a write of records on which an earlier list depends | the next attempt blocks writers |
 * | `endedBy` | the time limit of a short attempt | later statements are refused; the unit of work runs again |
 */
export interface TransactionState {
  /** The first error of the server or the connection. Later errors only follow from it. */
  readonly failure: unknown;
  readonly retryReason: RetryReason | undefined;
  /** True if the connection must not be used again. */
  readonly broken: boolean;
  /** True if the connection was lost: it is unknown which of the sent statements the server has executed. */
  readonly lost: boolean;
  /** True if the unit of work has sent a statement that may write. */
  wrote: boolean;
  /** Names that the transaction has locked, in order. */
  readonly locks: readonly string[];
  addLock(name: string): void;
  /** True after COMMIT was sent, unless the server has refused it: then the transaction is still open. */
  committing: boolean;
  ended: boolean;
  /** True if the unit of work must run again with all locks of commit validation. */
  readonly needsBlocking: boolean;
  note(error: unknown): void;
  /** Marks the transaction for a retry because its read set is stale, and returns the problem to throw. */
  markStale(): Problem;
  /** Marks the transaction for a retry that blocks writers, and returns the problem to throw. */
  markBlocking(): Problem;
  /** Ends a short attempt whose time is up, so that a long one follows, and returns the error to throw. */
  endAttempt(cause?: unknown): AttemptEnded;
  /** Records that a statement has reached the time limit, and returns the problem to throw. */
  markTimeLimit(problem: Problem): Problem;
  /** Waits for an answer of the driver and converts its error to a Problem or ConstraintError. */
  follow<T>(answer: Promise<T>): Promise<T>;
  /** Notes an error of the driver, and converts it to a Problem or ConstraintError. */
  toError(error: unknown): unknown;
  /** Throws if the transaction accepts no more statements. */
  check(): void;
}

/**
 * Codes of errors that only follow from an earlier error: the transaction has failed (25P02); BEGIN failed, so that no transaction is open
 * (25P01) or the session is read-only by default (25006).
 */
const CONSEQUENCES: ReadonlySet<string | undefined> = new Set(['25P02', '25P01', '25006']);

/** Creates the state of a transaction that has not begun. */
export function createTransactionState(): TransactionState {
  return new State();
}

/** A class and not an object with closures, because each request has two transactions. */
class State implements TransactionState {
  failure: unknown = undefined;
  retryReason: RetryReason | undefined = undefined;
  broken = false;
  lost = false;
  wrote = false;
  committing = false;
  ended = false;
  needsBlocking = false;
  #endedBy: AttemptEnded | undefined = undefined;
  #locks: Set<string> | undefined = undefined;

  get locks(): readonly string[] {
    return this.#locks === undefined ? [] : [...this.#locks];
  }

  addLock(name: string): void {
    this.#locks ??= new Set();
    this.#locks.add(name);
  }

  note(error: unknown): void {
    if (this.#isConsequence(error)) return;
    this.failure ??= error;
    this.retryReason ??= retryReason(error);
    // The connection of the unit of work has not failed.
    if (error instanceof SharedConnectionFailed) return;
    this.broken ||= isUnavailable(error);
    this.lost ||= isConnectionLost(error);
  }

  markStale(): Problem {
    return this.#markRetry('stale', busy(new Error('the read set of the transaction is stale')));
  }

  markBlocking(): Problem {
    this.needsBlocking = true;
    return this.markStale();
  }

  endAttempt(cause?: unknown): AttemptEnded {
    this.#endedBy ??= new AttemptEnded('long', cause);
    this.#markRetry('long', busy(this.#endedBy));
    return this.#endedBy;
  }

  markTimeLimit(problem: Problem): Problem {
    this.failure ??= problem;
    return problem;
  }

  async follow<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw this.toError(error);
    }
  }

  toError(error: unknown): unknown {
    // A Problem here is a value that our code refused before sending it, or a time limit, which is noted already.
    if (error instanceof Problem || error instanceof AttemptEnded) return error;
    this.note(error);
    return fromDriver(this.#isConsequence(error) ? this.failure : error);
  }

  check(): void {
    if (this.ended) throw internal('a transaction was used after its end');
    if (this.broken) throw fromDriver(this.failure);
    if (this.#endedBy !== undefined) throw this.#endedBy;
  }

  #isConsequence(error: unknown): boolean {
    return this.failure !== undefined && CONSEQUENCES.has(serverCode(error));
  }

  #markRetry(reason: RetryReason, problem: Problem): Problem {
    this.failure ??= problem;
    this.retryReason ??= reason;
    return problem;
  }
}

/** Returns true for an error after which the connection must not be used again. */
function isUnavailable(error: unknown): boolean {
  const known = fromDriver(error);
  return 'code' in known && known.code === 'STORAGE_UNAVAILABLE';
}
