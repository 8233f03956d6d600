import { createSharedQueue } from '../anonymous-share.ts';
import type { AttemptKind, AttemptState } from '../attempt.ts';
import { type ChainWriters, createChainWriters } from '../chain-writers.ts';
import type { DatabaseMetrics, Transaction } from '../contract.ts';
import type { LongQueue } from '../long-queue.ts';
import { createLostTime } from '../lost-time.ts';
import { createTurns, type Turns } from '../turns.ts';
import type { CommitBatch } from './commit-batching.ts';
import type { Connection } from './connection.ts';
import type { ConnectionPoolOptions, PostgresAddress } from './connection-string.ts';
import { deferConnection } from './deferred-connection.ts';
import { CONCURRENT_FLIGHTS } from './flights.ts';
import { createConnectionSlots, createNetworkFailures, createPool, type Pool, STATEMENT_TIMEOUT } from './pool.ts';
import { type Clock, createClock, createClockDifference } from './server-clock.ts';
import { type BeginStatements, toBeginStatements } from './session-settings.ts';
import { createSharedLookups, type SharedLookups } from './shared-lookups.ts';
import { createSharedReads, type SharedReads } from './shared-reads.ts';
import type { TimeoutLimits } from './statement-timeout.ts';
import { attempt, type TransactionOutcome } from './transaction.ts';

/** Options of one attempt at a unit of work. */
export interface AttemptOptions {
  readonly kind: AttemptKind;
  /** Number of previous attempts with a stale read set. */
  readonly stale: number;
  readonly locks: readonly string[];
  /** True for the first attempt, which sends its lookups and short reads together with those of others. */
  readonly sharesReads: boolean;
  /** The caller, whose long attempts take turns with those of others. */
  readonly caller: string;
  /** The state that the attempts share. */
  readonly state: AttemptState;
}

/** The connections for short attempts, for long ones and for commit batches. */
export interface ConnectionPools {
  /** The turns of long attempts. */
  readonly turns: Turns;
  readonly fault: string | undefined;
  /** Number of short attempts that wait for a connection or for a flight. */
  readonly waiting: number;
  readonly metrics: Pick<DatabaseMetrics, 'connections' | 'idleConnections' | 'longAttempts' | 'longWaiting' | 'longRefused'>;
  /** Runs an attempt. @throws Problem if no connection is available, or if too many long attempts wait */
  attempt<T>(work: (tx: Transaction) => Promise<T>, options: AttemptOptions): Promise<TransactionOutcome<T>>;
  readonly commitBatch: CommitBatch;
  close(): Promise<void>;
}

/** Maximum commit batches without slow checks that run at the same time, each on a connection of its own. */
export const CONCURRENT_BATCHES = 2;
/** Number of attempts with a stale read set after which the next attempt blocks other writers. */
export const BLOCK_AFTER = 4;

/** Creates the connections; they connect on first use. */
export function createConnectionPools(address: PostgresAddress, options: ConnectionPoolOptions): ConnectionPools {
  const { readers = READERS, readerQueue = 100, timeZone, log = () => undefined } = options;
  const writers = createChainWriters(timeZone);
  // After a failover, the next connection may lead to a server without the last entries of our chains.
  const pools = createPools(address, options, () => writers.discard());
  // Each long attempt of a caller occupies a processor of the server, and the long attempts of others begin at once.
  const longQueue = createSharedQueue({ concurrency: readers, perCaller: Math.ceil(readers / 2), length: readerQueue });
  const difference = createClockDifference(log);
  const timeouts = toTimeouts(options);
  const lookups = createSharedLookups(pools.lookups, timeouts.short);
  // A flight may contain slow reads, so it may take as long as two short attempts.
  const reads = createSharedReads(pools.reads, { timeout: 2 * timeouts.short, isContended: options.isContended });
  const turns = createTurns();
  const parts = {
    turns,
    pools,
    lookups,
    reads,
    longQueue,
    writers,
    clock: createClock(difference),
    begins: toBeginStatements(address, options),
  };
  const { attempts, commitBatch } = createAttempts(parts, timeouts);

  return {
    turns,
    get fault() {
      return difference.fault;
    },
    get waiting() {
      return pools.short.waiting + lookups.waiting + reads.waiting;
    },
    get metrics() {
      return {
        connections: sum(Object.values(pools), ({ total }) => total),
        idleConnections: sum(Object.values(pools), ({ idle }) => idle),
        longAttempts: longQueue.running,
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
  /** For commit batches with slow checks. */
  readonly slowBatch: Pool;
  readonly lookups: Pool;
  readonly reads: Pool;
}

/**
 * Creates the pools. Commit batches, long attempts, shared lookups and shared reads have connections of their own, so a batch never waits behind units of
 * work that have not begun, and no short attempt waits behind a long one.
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
  // Flights write nothing, so a lost connection leaves no commit in doubt.
  const reading = { ...shared, sessionTimeout: short, onConnectionLost: () => undefined };
  return {
    short: createPool(address, options.connections ?? 10, { ...shared, sessionTimeout: short }),
    long: createPool(address, options.readers ?? READERS, shared),
    batch: createPool(address, CONCURRENT_BATCHES, shared),
    slowBatch: createPool(address, 1, shared),
    lookups: createPool(address, CONCURRENT_FLIGHTS, reading),
    reads: createPool(address, CONCURRENT_FLIGHTS, reading),
  };
}

/** The parts that all attempts share. */
interface AttemptParts {
  readonly turns: Turns;
  readonly pools: Pools;
  readonly lookups: SharedLookups;
  readonly reads: SharedReads;
  readonly longQueue: LongQueue;
  readonly writers: ChainWriters;
  readonly clock: Clock;
  readonly begins: BeginStatements;
}

/** Creates the functions that run one attempt of each kind, and commit batches. */
function createAttempts(parts: AttemptParts, timeouts: Timeouts) {
  const { turns, pools, longQueue, writers, clock, begins } = parts;
  const { short, statementTimeout } = timeouts;

  /** A long attempt never blocks writers, because they would wait for seconds. */
  const runLong: RunAttempt = (work, { locks, caller, state }) => {
    const limits = { attempt: 'long', short, statementTimeout, state, turns } as const;
    const runOn = (connection: Connection) => {
      const reading = Math.min(Math.max(state.limit, short), statementTimeout);
      const start = startOf(parts, connection, { session: statementTimeout, reading, writing: statementTimeout });
      return attempt(connection, { ...start, limits, beginMode: 'eager', locks }, work);
    };
    return longQueue.run(caller, () => pools.long.lend(runOn));
  };

  const runUnlimited: RunAttempt = (work, { stale, locks }) => {
    const start = { begin: begins.unlimited, clock, writers, beginMode: 'eager', locks, blocksWriters: stale >= BLOCK_AFTER } as const;
    return pools.short.lend((connection) => attempt(connection, start, work), { unlimited: true });
  };

  const commitBatch: CommitBatch = (batch, work) =>
    (batch.isSlow ? pools.slowBatch : pools.batch).lend((connection) => {
      const beginMode = canSkipRoundTrip(parts, connection) ? 'pipelined' : 'eager';
      const limit = Math.min(batch.statementLimit ?? statementTimeout, statementTimeout);
      const start = startOf(parts, connection, { session: statementTimeout, reading: limit, writing: limit });
      return attempt(connection, { ...start, beginMode, batch }, work);
    });
  const runShort = createShortAttempts(parts, timeouts);
  return { attempts: { short: runShort, long: runLong, unlimited: runUnlimited }, commitBatch };
}

/** Creates the function that runs short attempts: the first with shared lookups, the others on connections of their own. */
function createShortAttempts(parts: AttemptParts, { short, statementTimeout }: Timeouts): RunAttempt {
  const { turns, pools, lookups, reads, writers, clock, begins } = parts;
  const lostTime = createLostTime({ short });
  const sessionLimits = { session: short, reading: short, writing: statementTimeout };

  /** Most reads by id need no more than lookups. */
  const runShared: RunAttempt = async (work, { caller, state }) => {
    const limits = { attempt: 'short', short, statementTimeout, state, turns } as const;
    const connection = deferConnection({ own: pools.short, lookups, reads }, caller);
    const start = { begin: begins.own, clock, writers, timeouts: sessionLimits, limits, beginMode: 'lazy' } as const;
    const outcome = await attempt(connection, start, work);
    await connection.release(outcome);
    // The wait for a connection is not lost time.
    if (isTooLong(outcome)) lostTime.add(caller, short);
    return outcome;
  };

  const runOwn: RunAttempt = (work, { stale, locks, caller, state }) =>
    pools.short.lend(async (connection) => {
      const [limit, begun] = [lostTime.limitFor(caller), performance.now()];
      const limits = { attempt: 'short', short: limit, statementTimeout, state, turns } as const;
      // A retry reads the server's clock: the read set may be stale only because a value in it has expired.
      const beginMode = canSkipRoundTrip(parts, connection) && stale === 0 && limit === short ? 'lazy' : 'eager';
      const start = startOf(parts, connection, { ...sessionLimits, reading: limit });
      const outcome = await attempt(connection, { ...start, limits, beginMode, locks, blocksWriters: stale >= BLOCK_AFTER }, work);
      if (isTooLong(outcome)) lostTime.add(caller, performance.now() - begun);
      return outcome;
    });

  return (work, how) => {
    const canShare = pools.short.isDirect && lookups.isAvailable && clock.isFresh && lostTime.limitFor(how.caller) === short;
    return how.sharesReads && canShare ? runShared(work, how) : runOwn(work, how);
  };
}

function isTooLong(outcome: TransactionOutcome<unknown>): boolean {
  return 'error' in outcome && outcome.retryReason === 'long';
}

/** Returns true if BEGIN may be lazy or pipelined: with our settings, statements after a failed BEGIN do not commit on their own. */
function canSkipRoundTrip({ clock }: AttemptParts, { hasSettings }: Connection): boolean {
  return hasSettings && clock.isFresh;
}

function startOf({ begins, clock, writers }: AttemptParts, { hasSettings }: Connection, { session, reading, writing }: TimeoutLimits) {
  const timeouts = { session: hasSettings ? session : undefined, reading, writing };
  return { begin: hasSettings ? begins.own : begins.shared, clock, writers, timeouts };
}

type RunAttempt = ConnectionPools['attempt'];

function sum<T>(list: readonly T[], of: (item: T) => number): number {
  return list.reduce((total, item) => total + of(item), 0);
}
