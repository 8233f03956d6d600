import { Problem } from '../errors.ts';
import type { Sql } from '../sql.ts';

/**
 * The attempts at a unit of work. `short` ends early if it takes more than some milliseconds, and only its audit entries are written after
 * it. `long` runs beside other units of work, within the time limit of the request, and must not write. `writer` holds the write lock of
 * SQLite, so its time limit is small. On PostgreSQL only `short` and `long` occur, and both may write.
 */
export type Attempt = 'short' | 'long' | 'writer';

/** The time limit of an attempt, and the state that the attempts of a unit of work share. */
export interface TimedAttempt {
  readonly attempt: Attempt;
  /** Values that a later attempt at the same unit of work can use, such as the ids that a search has found. */
  readonly retained: Map<string, unknown>;
  /**
   * Returns a condition that is always true, and ends the statement when the time of the attempt is up. A statement that can visit many
   * rows of a table has the condition first in the WHERE of the query that visits the rows; in another place SQLite may not evaluate it.
   *
   * @param table Name or alias of the table, quoted. It must have a rowid: the condition belongs inside of a subquery, not around it.
   * @param rows A power of two: the average number of rows between two checks, 256 if absent. Use 8 if comparing one row may take milliseconds.
   */
  deadlineCheck(table: Sql, rows?: number): Sql;
  /**
   * Ends the attempt if its time is up. In a long attempt, lets other requests continue first if a few milliseconds have passed. Call it
   * between slices of work in memory of at most a few milliseconds.
   *
   * @throws TimeLimit if no attempt with more time follows
   */
  checkTime(): Promise<void>;
  /** Returns the milliseconds that are left for statements with a deadline check and for work in memory; Infinity without a limit. */
  remaining(): number;
  /** Lowers the time limit of this and later attempts at the unit of work, in milliseconds for each attempt. */
  limitTime(milliseconds: number): void;
}

/** The time limit of a request was reached in an attempt that no attempt with more time follows. */
export class TimeLimit extends Problem {
  constructor(milliseconds: number) {
    super('REQUEST_BUDGET', `the request takes more than the ${Math.round(milliseconds)} ms that it may use`);
  }
}

/** The members of an attempt whose time is the time since it began. */
export type ElapsedTime = Pick<TimedAttempt, 'checkTime' | 'remaining' | 'limitTime'>;

/** Creates the time limit of an attempt that counts all time since it began. */
export function createElapsedTime(milliseconds = Number.POSITIVE_INFINITY): ElapsedTime {
  const begun = performance.now();
  let limit = milliseconds;
  const remaining = (): number => Math.max(0, limit - (performance.now() - begun));
  return {
    remaining,
    limitTime(lower) {
      limit = Math.min(limit, lower);
    },
    async checkTime() {
      if (remaining() === 0) throw new TimeLimit(limit);
    },
  };
}
