import type { Statement } from '../contract.ts';
import { createContentionCheck } from '../processor-contention.ts';
import type { QueryResult } from './connection.ts';
import { SharedConnectionFailed } from './driver-error.ts';
import { createFlights, type Flights, type Send } from './flights.ts';
import type { Pool } from './pool.ts';
import { createReadTimes, type ReadTimes } from './read-times.ts';

/** Sends short reads of many units of work together while processes compete for processors. */
export interface SharedReads extends Pick<Flights<unknown>, 'waiting'> {
  /** Returns true if a statement that only reads should be shared. The caller of this function must then send it: it may be the one slow read that is tried. */
  accepts(statement: Statement, caller: string): boolean;
  /** Sends a statement. Resolves to undefined if it was not sent and needs a connection of its own: while it waited, reads with its text or of its caller became slow. */
  send(statement: Statement, caller: string): Promise<QueryResult | undefined>;
}

/** Maximum reads in a flight. */
const MAX_FLIGHT = 16;
/** Maximum reads that wait for a flight. More take connections of their own. */
const MAX_WAITING = 4 * MAX_FLIGHT;

/** A read that waits for its result. */
interface Read {
  readonly statement: Statement;
  readonly caller: string;
  /** The time at which it was added, in milliseconds of the monotonic clock. */
  readonly since: number;
  readonly resolve: (result: QueryResult | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Options of shared reads. */
export interface SharedReadOptions {
  /** Maximum milliseconds of a flight. */
  readonly timeout: number;
  /** Returns true if short reads should share connections; by default while processes compete for processors. At other times, more connections can use idle processors of the server. */
  readonly isContended?: (() => boolean) | undefined;
}

/**
 * Creates the reads that units of work share. Each statement sees the newest committed state, on any connection. On few connections, the server switches
 * between fewer processes, and both sides send and receive fewer messages. A slow statement would delay those behind it.
 */
export function createSharedReads(pool: Pool, { timeout, isContended = createContentionCheck() }: SharedReadOptions): SharedReads {
  const times = createReadTimes();
  const flights = createFlights<Read>(pool, {
    size: MAX_FLIGHT,
    timeout,
    sendAll: (reads, send) => sendAll(reads, send, times),
    reject: ({ reject }, error) => reject(error),
  });

  return {
    get waiting() {
      return flights.waiting;
    },
    accepts: ({ sql }, caller) => flights.isAvailable && flights.waiting < MAX_WAITING && isContended() && times.mayShare(sql, caller),
    send(statement, caller) {
      const { promise, resolve, reject } = Promise.withResolvers<QueryResult | undefined>();
      flights.add({ statement, caller, since: performance.now(), resolve, reject });
      return promise;
    },
  };
}

/** Sends the reads of a flight and settles each. The server executes one after the other, so the time of each begins when the one before is answered. */
function sendAll(reads: readonly Read[], send: Send, times: ReadTimes): Promise<unknown> {
  let begun = performance.now();
  let isLost = false;
  return Promise.all(
    reads.map(async ({ statement, caller, since, resolve, reject }) => {
      if (times.isResting(statement.sql, caller)) {
        resolve(undefined);
        return;
      }
      const settle = (): number => {
        const [began, now] = [begun, performance.now()];
        // Those behind a read that has lost the connection were not executed.
        if (!isLost) times.add(statement.sql, caller, now - began);
        begun = now;
        return began - since;
      };
      try {
        const { rows, changes } = await send(statement);
        resolve({ rows, changes, waited: settle() });
      } catch (error) {
        settle();
        isLost ||= error instanceof SharedConnectionFailed;
        reject(error);
      }
    }),
  );
}
