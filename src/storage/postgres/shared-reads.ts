import { LRUCache } from 'lru-cache';
import type { Statement } from '../contract.ts';
import { createBusyCheck } from '../event-loop.ts';
import type { QueryResult } from './connection.ts';
import { createFlights, type Flights, type Send } from './flights.ts';
import type { Pool } from './pool.ts';

/** Sends short reads of many units of work together while this process is busy. */
export interface SharedReads extends Pick<Flights<unknown>, 'waiting'> {
  /** Returns true if a statement that only reads should be shared. */
  accepts(statement: Statement, caller: string): boolean;
  /** Sends a statement. Resolves to undefined if it needs a connection of its own: while it waited, its text or its caller took long. */
  send(statement: Statement, caller: string): Promise<QueryResult | undefined>;
}

/** Maximum reads in a flight. */
const MAX_FLIGHT = 16;
/** Average milliseconds of a text, and milliseconds of one statement of a caller, above which the statements take connections of their own for a while. */
const [SLOW_TEXT, SLOW_CALLER] = [10, 100];
/** The weight of the newest statement in the average. */
const NEWEST = 1 / 8;
/** The multiple of the time of a slow statement in which its text or its caller shares no connection. */
const REST = 20;
/** Maximum texts, and maximum callers, whose times are kept. */
const MAX_KEPT = 500;

/** A read that waits for its result. */
interface Read {
  readonly statement: Statement;
  readonly caller: string;
  readonly since: number;
  readonly resolve: (result: QueryResult | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Options of shared reads. */
export interface SharedReadOptions {
  /** Maximum milliseconds of a flight. */
  readonly timeout: number;
  /** Returns true if reads should be shared; by default if the event loop is busy. While it waits, more connections may use idle processors of the server. */
  readonly isBusy?: (() => boolean) | undefined;
}

/**
 * Creates the reads that units of work share. Each statement sees the newest committed state, on any connection. On few connections, the server switches
 * between fewer processes, and both sides send and receive fewer messages. A statement that takes long would delay those behind it.
 */
export function createSharedReads(pool: Pool, { timeout, isBusy = createBusyCheck() }: SharedReadOptions): SharedReads {
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
    accepts: ({ sql }, caller) => flights.isAvailable && !times.isSlow(sql, caller) && isBusy(),
    send(statement, caller) {
      const { promise, resolve, reject } = Promise.withResolvers<QueryResult | undefined>();
      flights.add({ statement, caller, since: performance.now(), resolve, reject });
      return promise;
    },
  };
}

/** Sends the reads of a flight and settles each. The server executes one after the other, so each begins with the answer of the one before. */
function sendAll(reads: readonly Read[], send: Send, times: ReadTimes): Promise<unknown> {
  let begun = performance.now();
  return Promise.all(
    reads.map(async ({ statement, caller, since, resolve, reject }) => {
      if (times.isSlow(statement.sql, caller)) {
        resolve(undefined);
        return;
      }
      const settle = (): number => {
        const [began, now] = [begun, performance.now()];
        times.add(statement.sql, caller, now - began);
        begun = now;
        return began - since;
      };
      try {
        const { rows, changes } = await send(statement);
        resolve({ rows, changes, waited: settle() });
      } catch (error) {
        settle();
        reject(error);
      }
    }),
  );
}

/** The times of shared reads. */
interface ReadTimes {
  add(text: string, caller: string, milliseconds: number): void;
  /** Returns true if statements with this text, or of this caller, have taken long. */
  isSlow(text: string, caller: string): boolean;
}

/** The average time of the statements with one text, and the time until which they share no connection. */
interface TextTimes {
  average: number;
  restsUntil: number;
}

function createReadTimes(): ReadTimes {
  const texts = new LRUCache<string, TextTimes>({ max: MAX_KEPT });
  const callers = new LRUCache<string, number>({ max: MAX_KEPT });

  return {
    add(text, caller, milliseconds) {
      const restsUntil = performance.now() + milliseconds * REST;
      const known = texts.get(text) ?? { average: 0, restsUntil: 0 };
      known.average += (milliseconds - known.average) * NEWEST;
      if (known.average > SLOW_TEXT) known.restsUntil = restsUntil;
      texts.set(text, known);
      if (milliseconds > SLOW_CALLER) callers.set(caller, restsUntil);
    },
    isSlow(text, caller) {
      const now = performance.now();
      return (texts.get(text)?.restsUntil ?? 0) > now || (callers.get(caller) ?? 0) > now;
    },
  };
}
