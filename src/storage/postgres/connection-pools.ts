import type { AttemptState } from '../attempt.ts';
import { type ChainWriters, createChainWriters } from '../chain-writers.ts';
import type { DatabaseMetrics, Transaction } from '../contract.ts';
import { createLongQueue, type LongQueue } from '../long-queue.ts';
import { createLostTime } from '../lost-time.ts';
import { createTurns } from '../turns.ts';
import type { CommitBatch } from './commit-batching.ts';
import type { Connection } from './connection.ts';
import type { ConnectionPoolOptions, PostgresAddress } from './connection-string.ts';
import { createConnectionSlots, createNetworkFailures, createPool, type Pool, STATEMENT_TIMEOUT } from './pool.ts';
import { type Clock, createClock, createClockDifference } from './server-clock.ts';
import { type BeginStatements, toBeginStatements } from './session-settings.ts';
import type { TimeoutLimits } from './statement-timeout.ts';
import { attempt, type TransactionOutcome } from './transaction.ts';

/** The kind of an attempt; `unlimited` for work that may take minutes, such as a migration. */
export type AttemptKind = 'short' | 'long' | 'unlimited';

/** Options of one attempt at a unit of work. */
export interface AttemptOptions {
  readonly kind: AttemptKind;
  /** Number of previous attempts with a stale read set. */
  readonly stale: number;
  readonly locks: readonly string[];
  /** The caller, whose long attempts take turns with those of others. */
  readonly caller: string;
  /** The state that the attempts share. */
  readonly state: AttemptState;
}

/** The connections for short attempts, for long ones and for commit batches. */
export interface ConnectionPools {
  readonly fault: string | undefined;
  /** Number of short attempts that wait for a connection. */
  readonly waiting: number;
  readonly metrics: Pick<DatabaseMetrics, 'connections' | 'idleConnections' | 'longRunning' | 'longWaiting' | 'longRefused'>;
  /** Runs an attempt. @throws Problem if no connection is available, or if too many long attempts wait */
  attempt<T>(work: (tx: Transaction) => Promise<T>, options: AttemptOptions): Promise<TransactionOutcome<T>>;
  readonly commitBatch: CommitBatch;
  close(): Promise<void>;
}

/** Maximum commit batches that run at the same time, each on a connection of its own. */
export const CONCURRENT_BATCHES = 2;
/** Number of attempts with a stale read set after which the next attempt blocks other writers. */
export const BLOCK_AFTER = 4;

/** Creates the connections; they connect on first use. */
export function createConnectionPools(address: PostgresAddress, options: ConnectionPoolOptions): ConnectionPools {
  const { readers = READERS, readerQueue = 100, timeZone, log = () => undefined } = options;
  const writers = createChainWriters(timeZone);
  // After a failover, the next connection may lead to a server without the last entries of our chains.
  const pools = createPools(address, options, () => writers.discard());
  const longQueue = createLongQueue({ concurrency: readers, length: readerQueue });
  const difference = createClockDifference(log);
  const parts = { pools, longQueue, writers, clock: createClock(difference), begins: toBeginStatements(address, options) };
  const { attempts, commitBatch } = createAttempts(parts, toTimeouts(options));

  return {
    get fault() {
      return difference.fault;
    },
    get waiting() {
      return pools.short.waiting;
    },
    get metrics() {
      return {
        connections: sum(Object.values(pools), ({ total }) => total),
        idleConnections: sum(Object.values(pools), ({ idle }) => idle),
        longRunning: longQueue.running,
        longWaiting: longQueue.waiting,
        longRefused: longQueue.refused,
      };
    },
    attempt: (work, how) => attempts[how.kind](work, how),
    commitBatch,
    async close() {
      await Promise.all(Object.values(pools).map((pool) => pool.close()));
    },
  };
}

/** The default of `readers`. */
const READERS = 4;

/** The timeouts of the statements of short attempts that read, and of all others, in milliseconds. */
interface Timeouts {
  readonly short: number;
  readonly statementTimeout: number;
}

function toTimeouts({ statementTimeout = STATEMENT_TIMEOUT, shortAttempt = 250 }: ConnectionPoolOptions): Timeouts {
  return { short: Math.min(shortAttempt, statementTimeout), statementTimeout };
}

/** The pools of connections, by their use. */
interface Pools {
  readonly short: Pool;
  readonly long: Pool;
  readonly batch: Pool;
}

/**
 * Creates three pools. Commit batches and long attempts have connections of their own, so a batch never waits behind units of work that
 * have not begun, and no short attempt waits behind a long one.
 */
function createPools(address: PostgresAddress, options: ConnectionPoolOptions, onConnectionLost: () => void): Pools {
  const { short, statementTimeout } = toTimeouts(options);
  const shared = {
    ...options,
    onConnectionLost,
    slots: createConnectionSlots(),
    failures: createNetworkFailures(),
    sessionTimeout: statementTimeout,
  };
  return {
    short: createPool(address, options.connections ?? 10, { ...shared, sessionTimeout: short }),
    long: createPool(address, options.readers ?? READERS, shared),
    batch: createPool(address, CONCURRENT_BATCHES, shared),
  };
}

/** The parts that all attempts share. */
interface AttemptParts {
  readonly pools: Pools;
  readonly longQueue: LongQueue;
  readonly writers: ChainWriters;
  readonly clock: Clock;
  readonly begins: BeginStatements;
}

/** Creates the functions that run one attempt of each kind, and commit batches. */
function createAttempts({ pools, longQueue, writers, clock, begins }: AttemptParts, { short, statementTimeout }: Timeouts) {
  const turns = createTurns();
  const lostTime = createLostTime({ short });
  // BEGIN may only be lazy or pipelined with our settings: after a failed BEGIN they keep later statements from committing on their own.
  const canSkipRoundTrip = (connection: Connection): boolean => connection.hasSettings && clock.isFresh;

  function startOf({ hasSettings }: Connection, { session, reading }: Pick<TimeoutLimits, 'reading'> & { readonly session: number }) {
    const timeouts = { session: hasSettings ? session : undefined, reading, writing: statementTimeout };
    return { begin: hasSettings ? begins.own : begins.shared, clock, writers, timeouts };
  }

  const runShort: RunAttempt = (work, { stale, locks, caller, state }) =>
    pools.short.lend(async (connection) => {
      const [limit, begun] = [lostTime.limitFor(caller), performance.now()];
      const limits = { attempt: 'short', short: limit, statementTimeout, state, turns } as const;
      // A retry reads the server's clock: the read set may be stale only because a value in it has expired.
      const beginMode = canSkipRoundTrip(connection) && stale === 0 && limit === short ? 'lazy' : 'eager';
      const start = startOf(connection, { session: short, reading: limit });
      const outcome = await attempt(connection, { ...start, limits, beginMode, locks, blocksWriters: stale >= BLOCK_AFTER }, work);
      if ('error' in outcome && outcome.retryReason === 'long') lostTime.add(caller, performance.now() - begun);
      return outcome;
    });

  /** A long attempt never blocks writers, because they would wait for seconds. */
  const runLong: RunAttempt = (work, { locks, caller, state }) => {
    const limits = { attempt: 'long', short, statementTimeout, state, turns } as const;
    const runOn = (connection: Connection) => {
      const reading = Math.min(Math.max(state.limit, short), statementTimeout);
      const start = startOf(connection, { session: statementTimeout, reading });
      return attempt(connection, { ...start, limits, beginMode: 'eager', locks }, work);
    };
    return longQueue.run(caller, () => pools.long.lend(runOn));
  };

  const runUnlimited: RunAttempt = (work, { stale, locks }) => {
    const start = { begin: begins.longRunning, clock, writers, beginMode: 'eager', locks, blocksWriters: stale >= BLOCK_AFTER } as const;
    return pools.short.lend((connection) => attempt(connection, start, work), { longRunning: true });
  };

  const commitBatch: CommitBatch = (batched, work) =>
    pools.batch.lend((connection) => {
      const beginMode = canSkipRoundTrip(connection) ? 'pipelined' : 'eager';
      const start = startOf(connection, { session: statementTimeout, reading: statementTimeout });
      return attempt(connection, { ...start, beginMode, batched }, work);
    });
  return { attempts: { short: runShort, long: runLong, unlimited: runUnlimited }, commitBatch };
}

type RunAttempt = ConnectionPools['attempt'];

function sum<T>(list: readonly T[], of: (item: T) => number): number {
  return list.reduce((total, item) => total + of(item), 0);
}
