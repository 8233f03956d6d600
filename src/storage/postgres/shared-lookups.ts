import type { Statement } from '../contract.ts';
import type { QueryResult } from './connection.ts';
import { createFlights, type Flights, type Send } from './flights.ts';
import { toBatches } from './lookup-batches.ts';
import type { Pool } from './pool.ts';

/** Sends lookups of many units of work together. */
export interface SharedLookups extends Pick<Flights<unknown>, 'waiting' | 'isAvailable'> {
  /** Begins the lookups of a unit of work. Those that it sends in one turn of the event loop run on one connection, those whose rows are kept first. */
  open(): (statement: Statement) => Promise<QueryResult>;
}

/** Maximum units of work in a flight of lookups. */
const MAX_FLIGHT = 256;

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
 * such a statement is its message, so one statement does those of many units of work.
 *
 * @param timeout Maximum milliseconds of a flight.
 */
export function createSharedLookups(pool: Pool, timeout: number): SharedLookups {
  const flights = createFlights<Group>(pool, {
    size: MAX_FLIGHT,
    timeout,
    sendAll,
    reject(group, error) {
      // The next lookup of its unit of work begins another group.
      group.isSent = true;
      for (const { reject } of group.lookups) reject(error);
    },
  });

  return {
    get waiting() {
      return flights.waiting;
    },
    get isAvailable() {
      return flights.isAvailable;
    },
    open: () => openLookups(flights.add),
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

/** Sends the lookups of a flight and settles each with its result. */
function sendAll(groups: readonly Group[], send: Send): Promise<unknown> {
  for (const group of groups) group.isSent = true;
  return Promise.all(
    toBatches(groups.flatMap(({ lookups }) => lookups)).map(async ({ statement, lookups, toResults }) => {
      try {
        const results = toResults(await send(statement));
        for (const [index, { resolve }] of lookups.entries()) resolve(results[index] as QueryResult);
      } catch (error) {
        for (const { reject } of lookups) reject(error);
      }
    }),
  );
}
