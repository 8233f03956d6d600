import type { Statement } from '../contract.ts';
import type { Connection, QueryResult } from './connection.ts';
import { isConnectionLost, type RetryReason, retryReason, SharedConnectionFailed } from './driver-error.ts';
import { toBatches } from './lookup-batches.ts';
import type { Pool } from './pool.ts';

/** Sends lookups of many units of work together: those that arrive while flights are on their way form the next one. */
export interface SharedLookups {
  /** Number of units of work whose lookups wait for a flight. */
  readonly waiting: number;
  /** False for a moment after a failure, and behind a pooler: units of work then use connections of their own. */
  readonly isAvailable: boolean;
  /** Begins the lookups of a unit of work. Those that it sends in one turn of the event loop run on one connection, those whose rows are kept first. */
  open(): (statement: Statement) => Promise<QueryResult>;
}

/** Maximum flights at the same time, each on a connection of its own. */
export const CONCURRENT_FLIGHTS = 2;
/** Maximum units of work in a flight: in a larger one, the first would wait long for their answers. */
const MAX_FLIGHT = 256;
/** Milliseconds without flights after one has failed. */
const PAUSE = 1000;

/** A statement that waits for its result. */
interface Lookup {
  readonly statement: Statement;
  readonly resolve: (result: QueryResult) => void;
  readonly reject: (error: unknown) => void;
}

/** The lookups that a unit of work has sent in one turn. */
interface Group {
  readonly lookups: Lookup[];
  isSent: boolean;
}

/**
 * Creates the lookups that units of work share. A lookup reads one row by its key, so it does not delay those behind it. Most of the cost of
 * such a statement is its message, so one statement does those of many units of work. If the connection of a flight fails, its units of work run
 * again on connections of their own.
 *
 * @param timeout Milliseconds after which a flight is cut, so that a lookup that waits for a lock delays others no longer.
 */
export function createSharedLookups(pool: Pool, timeout: number): SharedLookups {
  const queue: Group[] = [];
  let running = 0;
  let scheduled = false;
  let pausedUntil = 0;

  /** Waits for one turn of the event loop: the flight gets the lookups of all requests that arrive in the same turn. */
  function schedule(): void {
    if (scheduled || running >= CONCURRENT_FLIGHTS || queue.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      void run(queue.splice(0, MAX_FLIGHT));
      schedule();
    });
  }

  async function run(groups: readonly Group[]): Promise<void> {
    running++;
    for (const group of groups) group.isSent = true;
    const lookups = groups.flatMap((group) => group.lookups);
    try {
      const { lost } = await pool.lend((connection) => sendFlight(connection, lookups, timeout), { needsSettings: true });
      if (lost !== undefined) throw lost;
    } catch (error) {
      pausedUntil = performance.now() + PAUSE;
      // Rejects only those without an answer.
      for (const { reject } of lookups) reject(new SharedConnectionFailed('the connection of shared lookups has failed', { cause: error }));
    }
    running--;
    schedule();
  }

  return {
    get waiting() {
      return queue.length;
    },
    get isAvailable() {
      return performance.now() >= pausedUntil;
    },
    open: () =>
      openLookups((group) => {
        queue.push(group);
        schedule();
      }),
  };
}

/**
 * Opens the lookups of a unit of work.
 *
 * @param enqueue Receives the first lookup of each group; the following ones are added to it until it is sent.
 */
function openLookups(enqueue: (group: Group) => void): ReturnType<SharedLookups['open']> {
  let group: Group | undefined;
  return (statement) => {
    const { promise, resolve, reject } = Promise.withResolvers<QueryResult>();
    const lookup = { statement, resolve, reject };
    if (group === undefined || group.isSent) {
      group = { lookups: [lookup], isSent: false };
      enqueue(group);
    } else group.lookups.push(lookup);
    return promise;
  };
}

/** The end of a flight. */
interface FlightEnd {
  readonly broken: boolean;
  readonly retryReason: RetryReason | undefined;
  /** The error with which the connection was lost. */
  readonly lost: unknown;
}

/** Sends lookups on one connection and settles each with its result; those without one are left to the caller. Never throws. */
async function sendFlight(connection: Connection, lookups: readonly Lookup[], timeout: number): Promise<FlightEnd> {
  const end = { broken: false, retryReason: undefined as RetryReason | undefined, lost: undefined as unknown };
  let isAnswered = false;
  // The process may have been busy for longer than the timeout: answers that have arrived meanwhile are read before the immediate runs.
  const timer = setTimeout(() => setImmediate(() => isAnswered || connection.abort()), timeout);
  await Promise.all(
    toBatches(lookups).map(async ({ statement, lookups: batch, toResults }) => {
      try {
        const results = toResults(await connection.query(statement));
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] as QueryResult);
      } catch (error) {
        if (isConnectionLost(error)) Object.assign(end, { broken: true, lost: error });
        else for (const { reject } of batch) reject(error);
        end.retryReason ??= retryReason(error);
      }
    }),
  );
  clearTimeout(timer);
  isAnswered = true;
  return end;
}
