import { Problem } from '../errors.ts';

/**
 * The attempts at a unit of work. `short` ends early if it takes more than some milliseconds or, on SQLite, if a part of its writes is to be undone.
 * Only its audit entries are written after it. `long` runs beside other units of work, within the time limit of the request, and must not write.
 * `writer` holds the write lock of SQLite, so its time limit is small. On PostgreSQL only `short` and `long` occur, and both may write.
 */
export type Attempt = 'short' | 'long' | 'writer';

/** The kinds of attempts on PostgreSQL. `unlimited` is the only attempt at work that may take minutes, such as a migration. */
export type AttemptKind = Exclude<Attempt, 'writer'> | 'unlimited';

/** The time limit of an attempt, and the state that the attempts of a unit of work share. */
export interface TimedAttempt {
  readonly attempt: Attempt;
  /** Number of earlier attempts at the unit of work whose read set was stale. */
  readonly staleAttempts: number;
  /** Values that a later attempt at the same unit of work can use, such as the ids that a search has found. */
  readonly retained: Map<string, unknown>;
  /**
   * Ends the attempt if its time is up. In a long attempt, lets other requests continue first if a few milliseconds have passed. Call it
   * between slices of work in memory of at most a few milliseconds.
   *
   * @throws TimeLimit if no attempt with more time follows
   */
  checkTime(): Promise<void>;
  /**
   * Runs work that belongs to the service and not to the caller, such as loading the policies after a change: its time is neither limited nor
   * counted. The timeout of the server stays in force: on PostgreSQL it ends a short attempt.
   */
  withoutTimeLimit<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Notes that the unit of work now evaluates rows in memory, which occupies the event loop. On PostgreSQL, a short attempt then has a tenth of
   * its time.
   */
  beginInMemory(): void;
  /** Returns the milliseconds that are left for statements with a deadline check and for work in memory; Infinity without a limit. */
  remaining(): number;
  /** Notes that the unit of work refers to records, for `requireNoNewReferences` of others. The references may not be stored in the end. */
  noteReferences(table: string, ids: readonly string[]): void;
  /** Notes a write of records that policies watch: totals that others have counted become stale. Does nothing on PostgreSQL, where the write set contains the write. */
  noteWritten(resource: string): void;
  /** Loads a text that changes when a commit may have written records of one of the resources. SQLite only; undefined on PostgreSQL. */
  loadWriteState(resources: ReadonlySet<string>): Promise<string | undefined>;
  /** Loads a text that changes when a commit may have added a reference to one of the records; constant on PostgreSQL. */
  loadReferenceState(table: string, ids: readonly string[]): Promise<string>;
  /**
   * For a unit of work that deletes records and has searched a snapshot for references to them: runs the long attempt again if another
   * unit of work may have added a reference since the snapshot, in which `state` was loaded. On PostgreSQL, the row locks of the deleted records
   * exclude it.
   */
  requireNoNewReferences(table: string, ids: readonly string[], state: string): Promise<void>;
  /** Lowers the time limit of this and later attempts at the unit of work, in milliseconds for each attempt. */
  limitTime(milliseconds: number): void;
}

/** The time limit of a request was reached, and no attempt with more time follows. */
export class TimeLimit extends Problem {
  constructor(milliseconds: number) {
    super('REQUEST_BUDGET', `the request takes more than the ${Math.round(milliseconds)} ms that it may use`);
  }
}

/** The time limits of attempts in a commit batch of SQLite, in milliseconds. All other requests wait meanwhile. */
export interface BatchLimits {
  readonly short: number;
  readonly writer: number;
}

/** Ends an attempt before its unit of work is done. The unit of work runs again. */
export class AttemptEnded extends Error {
  override name = 'AttemptEnded';
  /** The next attempt, or the reason to repeat the long attempt: its read set is `stale`, or its reader was `lost`. */
  readonly next: Attempt | 'stale' | 'lost';
  constructor(next: Attempt | 'stale' | 'lost', cause?: unknown) {
    super(`the attempt has ended: ${next}`, { cause });
    this.next = next;
  }
}

/** The state that the attempts of one unit of work share. */
export interface AttemptState {
  readonly retained: Map<string, unknown>;
  /** The maximum milliseconds of a long attempt. */
  limit: number;
  /** Number of attempts whose read set was stale. */
  stale?: number;
  /** Called when the unit of work begins to take turns: it no longer goes before the turns of others. */
  readonly yieldFirst?: (() => void) | undefined;
}

/** Counts the time of one attempt: of statements with a deadline check, and of work in memory. */
export interface Stopwatch {
  /** Milliseconds that are left. */
  readonly remaining: number;
  /** Milliseconds since the last statement, or since `begin`. */
  readonly lap: number;
  /** Like `lap`, also while the time is not counted: other requests wait for this work in any case. */
  readonly slice: number;
  /** Adds milliseconds of a statement that ended now. */
  add(milliseconds: number): void;
  /** Adds the time of a statement that began at `begun` and ended now. The time of statements that run at the same time counts once. */
  addSince(begun: number): void;
  /** Begins to count work in memory. */
  begin(): void;
  /** Adds the time of work in memory since the last statement, or since `begin`. */
  addLap(): void;
  /** Runs work whose time is not counted. Meanwhile, the time that is left is infinite. */
  pauseDuring<T>(work: () => Promise<T>): Promise<T>;
}

/** Creates a stopwatch that counts down from a limit in milliseconds. */
export function createStopwatch(limit: () => number): Stopwatch {
  return new LimitedStopwatch(limit);
}

/** A class and not closures, because every unit of work creates a stopwatch, and its methods exist once. */
class LimitedStopwatch implements Stopwatch {
  private spent = 0;
  private mark: number | undefined;
  /** The time until which statements have been counted. */
  private counted = 0;
  /** Number of calls of `pauseDuring` that have not ended. */
  private pauses = 0;
  private readonly limit: () => number;

  constructor(limit: () => number) {
    this.limit = limit;
  }

  get remaining(): number {
    return this.pauses > 0 ? Number.POSITIVE_INFINITY : Math.max(0, this.limit() - this.spent);
  }

  get lap(): number {
    return this.mark === undefined || this.pauses > 0 ? 0 : performance.now() - this.mark;
  }

  get slice(): number {
    return this.mark === undefined ? 0 : performance.now() - this.mark;
  }

  add(milliseconds: number): void {
    if (this.pauses === 0) this.spent += milliseconds;
    this.begin();
  }

  addSince(begun: number): void {
    const now = performance.now();
    this.add(now - Math.max(begun, this.counted));
    this.counted = now;
  }

  begin(): void {
    this.mark = performance.now();
  }

  addLap(): void {
    this.spent += this.lap;
    this.begin();
    this.counted = performance.now();
  }

  async pauseDuring<T>(work: () => Promise<T>): Promise<T> {
    this.spent += this.lap;
    this.pauses++;
    try {
      return await work();
    } finally {
      this.pauses--;
      if (this.mark !== undefined) this.begin();
    }
  }
}
