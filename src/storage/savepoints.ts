import { Problem } from '../errors.ts';

/** The transaction that savepoints belong to. */
export interface SavepointHost {
  /** Returns true if the transaction accepts no more statements. */
  isOver(): boolean;
  /** Throws if the transaction accepts no more statements. */
  check(): void;
  readonly savepoints: PendingSavepoints;
}

/** Nested savepoints of a connection, by name. No call waits for an answer, because the database executes statements in order. */
export interface PendingSavepoints {
  open(name: string): void;
  /** Rolls back the writes since the savepoint, which stays open. If it was not sent (`LazySavepoints.endAttempt`), ends the attempt instead. */
  undo(name: string): void;
  release(name: string): void;
}

/** Nested savepoints of one transaction. */
export interface Savepoints {
  /** Number of open savepoints. */
  readonly open: number;
  /** Runs `work` in a savepoint. If it throws, calls `undo`, which undoes what the savepoint has changed in memory. */
  run<T>(work: () => Promise<T>, undo?: () => void): Promise<T>;
}

/** Creates the savepoints of one transaction. */
export function createSavepoints(host: SavepointHost): Savepoints {
  return new NestedSavepoints(host);
}

/** A class, because each request creates two: an object literal with a getter would have a hidden class of its own. */
class NestedSavepoints implements Savepoints {
  readonly #host: SavepointHost;
  #open = 0;

  constructor(host: SavepointHost) {
    this.#host = host;
  }

  get open(): number {
    return this.#open;
  }

  async run<T>(work: () => Promise<T>, undo?: () => void): Promise<T> {
    const host = this.#host;
    host.check();
    const depth = ++this.#open;
    const name = `s${depth}`;
    host.savepoints.open(name);
    try {
      const answer = await work();
      host.check();
      if (this.#open !== depth) throw internal('savepoints overlap: one was not awaited before the next began');
      this.#release(name);
      return answer;
    } catch (error) {
      // If savepoints overlap, rolling one back would undo another's writes, so the transaction fails at its end.
      if (this.#open === depth && !host.isOver()) {
        host.savepoints.undo(name);
        this.#release(name);
      }
      undo?.();
      throw error;
    }
  }

  #release(name: string): void {
    this.#host.savepoints.release(name);
    this.#open--;
  }
}

/** Savepoints that are sent only before the first write in them. */
export interface LazySavepoints extends PendingSavepoints {
  /**
   * If set, only the outermost savepoint is sent. Called instead of a rollback to another one in which something was written. The attempt must then end:
   * its outermost savepoint is undone, and the next attempt runs without this function.
   */
  endAttempt: (() => void) | undefined;
  /** Sends one savepoint for all open savepoints that were not sent. Call it before a write. */
  send(): void;
  /** Notes a write that has succeeded. Needed only with `endAttempt`. */
  noteWrite(): void;
  /**
   * Call when BEGIN was sent. A savepoint that is open at that time contains the whole transaction, so rolling back to it calls `startOver`,
   * which rolls back everything. The next write begins a new transaction.
   */
  begin(startOver: () => void): void;
  /** Forgets all savepoints: their transaction has ended. */
  clear(): void;
}

/** An open savepoint, and the name of the sent savepoint that it shares; undefined if nothing was written in it. */
interface LazySavepoint {
  readonly name: string;
  sentAs: string | typeof TRANSACTION_BEGIN | typeof NOT_SENT | undefined;
}

/** The value of `sentAs` for a savepoint that contains the whole transaction. */
const TRANSACTION_BEGIN: unique symbol = Symbol('whole');
/** The value of `sentAs` for a savepoint that was not sent before a write in it. */
const NOT_SENT: unique symbol = Symbol('not sent');

/** Creates lazy savepoints; `send` sends text to the database. */
export function createLazySavepoints(send: (sql: string) => void): LazySavepoints {
  return new PendingMarks(send);
}

/** A class, because each request on PostgreSQL creates one. */
class PendingMarks implements LazySavepoints {
  readonly #send: (sql: string) => void;
  /** The open savepoints, from the outermost to the innermost. Savepoints that were not sent are always at the end. */
  readonly #open: LazySavepoint[] = [];
  #rollBackTransaction = (): void => undefined;
  endAttempt: (() => void) | undefined;

  constructor(send: (sql: string) => void) {
    this.#send = send;
  }

  open(name: string): void {
    this.#open.push({ name, sentAs: undefined });
  }

  undo(name: string): void {
    const { sentAs: known } = this.#find(name);
    if (known === TRANSACTION_BEGIN) {
      this.#rollBackTransaction();
      for (const mark of this.#open) mark.sentAs = undefined;
    } else if (known === NOT_SENT) {
      if (this.endAttempt === undefined) throw internal(`the savepoint ${name} was not sent before a write`);
      this.endAttempt();
    } else if (known !== undefined) this.#send(`ROLLBACK TO SAVEPOINT ${known}`);
  }

  release(name: string): void {
    const { sentAs: known } = this.#find(name);
    this.#open.pop();
    if (known === name) this.#send(`RELEASE SAVEPOINT ${name}`);
  }

  send(): void {
    const first = this.#open.find(({ sentAs: known }) => known === undefined);
    if (first === undefined || (this.endAttempt !== undefined && first !== this.#open[0])) return;
    this.#send(`SAVEPOINT ${first.name}`);
    // Nothing was written between the first and the last savepoint that was not sent, so one sent savepoint serves all of them.
    for (const mark of this.#open) mark.sentAs ??= first.name;
  }

  noteWrite(): void {
    for (const mark of this.#open) mark.sentAs ??= NOT_SENT;
  }

  begin(startOver: () => void): void {
    this.#rollBackTransaction = startOver;
    for (const mark of this.#open) mark.sentAs = TRANSACTION_BEGIN;
  }

  clear(): void {
    this.#open.length = 0;
    this.endAttempt = undefined;
  }

  /** Finds a savepoint by name and closes the savepoints inside of it. */
  #find(name: string): LazySavepoint {
    const at = this.#open.findLastIndex((mark) => mark.name === name);
    const mark = this.#open[at];
    if (mark === undefined) throw internal(`no savepoint is open by the name of ${name}`);
    this.#open.length = at + 1;
    return mark;
  }
}

/** Creates a Problem for a bug in this program. */
export function internal(mistake: string): Problem {
  return new Problem('INTERNAL', 'the request could not be completed', { cause: new Error(mistake) });
}
