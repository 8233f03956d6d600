import type { Statement } from '../contract.ts';
import type { Connection, QueryResult } from './connection.ts';
import { isConnectionLost, type RetryReason, retryReason, SharedConnectionFailed } from './driver-error.ts';
import type { ConnectionUse, Pool } from './pool.ts';

/** Sends statements of many units of work together: those that arrive while flights are on their way form the next one. */
export interface Flights<Item> {
  /** Number of items that wait for a flight. */
  readonly waiting: number;
  /** False for a moment after a failure, and behind a pooler: units of work then use connections of their own. */
  readonly isAvailable: boolean;
  /** Adds an item, which leaves with the next flight that has a place. */
  add(item: Item): void;
}

/** Sends a statement of a flight. Throws SharedConnectionFailed if the connection is lost, and otherwise the driver's error. */
export type Send = (statement: Statement) => Promise<QueryResult>;

/** Options of flights. */
export interface FlightOptions<Item> {
  /** Maximum items of a flight: in a larger one, the first would wait long for their answers. */
  readonly size: number;
  /** Milliseconds after which the connection of a flight is closed, so that a statement that waits for a lock does not delay others any longer. */
  readonly timeout: number;
  /** Sends the statements of the items. Resolves when each item is settled; never rejects. */
  sendAll(items: readonly Item[], send: Send): Promise<unknown>;
  /** Rejects an item, unless it is settled. */
  reject(item: Item, error: SharedConnectionFailed): void;
}

/** Maximum flights at the same time, each on a connection of its own. */
export const CONCURRENT_FLIGHTS = 2;
/** Milliseconds without flights after one has failed. */
const PAUSE = 1000;

/** Creates the flights on the connections of a pool. If the connection of a flight fails, its units of work run again on connections of their own. */
export function createFlights<Item>(pool: Pool, options: FlightOptions<Item>): Flights<Item> {
  const queue: Item[] = [];
  let running = 0;
  let scheduled = false;
  let pausedUntil = 0;

  /** Waits for one turn of the event loop: the flight gets the statements of all requests that arrive in the same turn. */
  function schedule(): void {
    if (scheduled || running >= CONCURRENT_FLIGHTS || queue.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      const items = queue.splice(0, options.size);
      // A flight that failed meanwhile has emptied the queue.
      if (items.length > 0) void run(items);
      schedule();
    });
  }

  async function run(items: readonly Item[]): Promise<void> {
    running++;
    const failure = await fly(pool, items, options);
    if (failure !== undefined) {
      pausedUntil = performance.now() + PAUSE;
      // The next flights would probably fail too, one after the other.
      for (const item of [...items, ...queue.splice(0)]) options.reject(item, failure);
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
    add(item) {
      queue.push(item);
      schedule();
    },
  };
}

/** Sends the statements of a flight on a connection of the pool. Returns the failure of the connection. */
async function fly<Item>(
  pool: Pool,
  items: readonly Item[],
  { timeout, sendAll }: FlightOptions<Item>,
): Promise<SharedConnectionFailed | undefined> {
  try {
    const work = async (connection: Connection): Promise<ConnectionUse> => {
      const flight = openFlight(connection, timeout);
      await sendAll(items, flight.send);
      return flight.end();
    };
    const { broken } = await pool.lend(work, { needsSettings: true });
    return broken === true ? toFailure(new Error('the connection was lost')) : undefined;
  } catch (error) {
    return toFailure(error);
  }
}

function toFailure(cause: unknown): SharedConnectionFailed {
  return new SharedConnectionFailed('a connection that units of work share has failed', { cause });
}

/** A flight on its connection. */
interface Flight {
  readonly send: Send;
  /** Ends the flight; returns the state of the connection. */
  end(): ConnectionUse;
}

function openFlight(connection: Connection, timeout: number): Flight {
  const use = { broken: false, retryReason: undefined as RetryReason | undefined };
  let isOver = false;
  // The process may have been busy for longer than the timeout: answers that have arrived meanwhile are read before the immediate runs.
  const timer = setTimeout(() => setImmediate(() => isOver || connection.abort()), timeout);

  async function send(statement: Statement): Promise<QueryResult> {
    try {
      return await connection.query(statement);
    } catch (error) {
      use.retryReason ??= retryReason(error);
      if (!isConnectionLost(error)) throw error;
      use.broken = true;
      throw toFailure(error);
    }
  }

  return {
    send,
    end() {
      clearTimeout(timer);
      isOver = true;
      return use;
    },
  };
}
