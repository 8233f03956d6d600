import { Problem } from '../../errors.ts';
import { createChainWriters } from '../chain-writers.ts';
import type { CommitMetrics, CommitObserver, DatabaseMetrics, Log, Transaction, TransactionOptions } from '../contract.ts';
import { type CommitBatch, type CommitBatcher, createCommitBatcher } from './commit-batching.ts';
import type { Connection } from './connection.ts';
import type { PostgresAddress, ServerOptions } from './connection-string.ts';
import { busy } from './driver-error.ts';
import { type CommitOutcome, type InDoubtCommit, loadCommitOutcome } from './in-doubt-commit.ts';
import { createConnectionSlots, createPool, toBeginStatements } from './pool.ts';
import { createClock, createClockDifference } from './server-clock.ts';
import { attempt, type TransactionOutcome } from './transaction.ts';

/** Options of a runner. */
export interface RunnerOptions extends ServerOptions {
  /** Maximum connections for units of work, 10 if absent; commit batches use a few more. */
  readonly connections?: number;
  /** Maximum milliseconds to resolve an in-doubt commit; 10,000 if absent. */
  readonly inDoubtTimeout?: number;
  /** Called after each commit. */
  readonly observer?: CommitObserver | undefined;
  readonly log?: Log | undefined;
}

/** The result of a unit of work. */
export interface RunResult<T> {
  readonly answer: T;
  /** True if the unit of work committed a write, which proves that the database accepts writes. */
  readonly wrote: boolean;
}

/** Runs units of work on pooled connections, and retries them after conflicts. */
export interface Runner {
  readonly metrics: DatabaseMetrics;
  /** The same as `fault` of `Database`. */
  readonly fault: string | undefined;
  run<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions): Promise<RunResult<T>>;
  close(): Promise<void>;
}

/** Maximum units of work that wait for a connection. */
const MAX_QUEUE = 10_000;
/** Maximum attempts after conflicts with other transactions or with a migration. */
const ATTEMPTS = 5;
/** Maximum attempts with a stale read set; each attempt reads the newest state. */
const STALE_ATTEMPTS = 10;
/** Number of attempts with a stale read set after which the next attempt blocks other writers. */
const BLOCK_AFTER = 4;
/** Maximum commit batches that run at the same time, each on a connection of its own. */
const CONCURRENT_BATCHES = 2;
/** Milliseconds between two checks of an in-doubt commit. */
const IN_DOUBT_PAUSE = 50;

/** Creates a runner; it connects with the first unit of work. */
export function createRunner(address: PostgresAddress, options: RunnerOptions): Runner {
  const connections = createConnections(address, options);
  const batcher = createCommitBatcher(connections.commitBatch, { concurrency: CONCURRENT_BATCHES, committed });
  const settle = createSettling(connections, batcher, options.inDoubtTimeout);
  let [commits, unitsOfWork, validationRetries] = [0, 0, 0];

  function committed(commit: CommitMetrics): void {
    commits++;
    options.observer?.committed(commit);
  }

  async function run<T>(work: Work<T>, { longRunning = false }: TransactionOptions): Promise<RunResult<T>> {
    if (connections.metrics.waiting + batcher.waiting >= MAX_QUEUE)
      throw new Problem('STORAGE_BUSY', `${MAX_QUEUE} transactions are waiting already`);
    let locks: readonly string[] = [];
    for (let [conflicts, stale] = [0, 0]; ; ) {
      const outcome = await connections.attempt(work, { longRunning, stale, locks });
      if ('answer' in outcome && outcome.pending === undefined && outcome.wrote) committed({ ms: outcome.ms, unitsOfWork: 1 });
      const settled = await settle(outcome);
      if ('answer' in settled) {
        if (settled.wrote) unitsOfWork++;
        return settled;
      }
      if (settled.retryReason === 'stale') [stale, validationRetries] = [stale + 1, validationRetries + 1];
      else conflicts++;
      // Many units of work that wait for one lock would each find a stale read set, so the retry takes the locks before it reads.
      if ('locks' in outcome && settled.retryReason === 'stale') locks = outcome.locks ?? [];
      if (settled.retryReason === undefined || conflicts === ATTEMPTS || stale === STALE_ATTEMPTS) throw settled.error;
      // Two transactions in conflict would conflict again if both were retried at once.
      if (settled.retryReason === 'conflict') await pause(Math.random() * 10 * conflicts);
    }
  }

  return {
    get metrics() {
      const { waiting, ...counts } = connections.metrics;
      const long = { longRunning: 0, longWaiting: 0, longRefused: 0 };
      return { commits, unitsOfWork, waiting: waiting + batcher.waiting, validationRetries, ...long, ...counts };
    },
    get fault() {
      return connections.fault;
    },
    run,
    close: connections.close,
  };
}

type Work<T> = (tx: Transaction) => Promise<T>;

interface AttemptOptions {
  readonly longRunning: boolean;
  /** Number of previous attempts with a stale read set. */
  readonly stale: number;
  readonly locks: readonly string[];
}

/** The connections for units of work and those for commit batches. */
interface Connections {
  readonly fault: string | undefined;
  readonly metrics: Pick<DatabaseMetrics, 'waiting' | 'connections' | 'idleConnections'>;
  attempt<T>(work: Work<T>, options: AttemptOptions): Promise<TransactionOutcome<T>>;
  readonly commitBatch: CommitBatch;
  close(): Promise<void>;
}

/** Creates two pools: commit batches have connections of their own, so they never wait behind units of work that have not begun. */
function createConnections(address: PostgresAddress, options: RunnerOptions): Connections {
  const writers = createChainWriters();
  // After a failover, the next connection may lead to a server without the last entries of our chains.
  const onConnectionLost = (): void => writers.discard();
  const slots = createConnectionSlots();
  const pool = createPool(address, options.connections ?? 10, { ...options, onConnectionLost, slots });
  const batchPool = createPool(address, CONCURRENT_BATCHES, { ...options, onConnectionLost, slots });
  const begins = toBeginStatements(address, options);
  const difference = createClockDifference(options.log ?? (() => undefined));
  const clock = createClock(difference);
  const beginOf = (connection: Connection): string => (connection.hasSettings ? begins.own : begins.shared);
  // BEGIN may only be lazy or pipelined with our settings: after a failed BEGIN they keep later statements from committing on their own.
  const canSkipRoundTrip = (connection: Connection): boolean => connection.hasSettings && clock.isFresh;

  return {
    get fault() {
      return difference.fault;
    },
    get metrics() {
      return { waiting: pool.waiting, connections: pool.total + batchPool.total, idleConnections: pool.idle + batchPool.idle };
    },
    attempt: (work, { longRunning, stale, locks }) =>
      pool.lend(
        (connection) => {
          // A retry reads the server's clock: the read set may be stale only because a value in it has expired.
          const beginMode = canSkipRoundTrip(connection) && !longRunning && stale === 0 ? 'lazy' : 'eager';
          const begin = longRunning ? begins.longRunning : beginOf(connection);
          return attempt(connection, { begin, clock, writers, beginMode, locks, blocksWriters: stale >= BLOCK_AFTER }, work);
        },
        { longRunning },
      ),
    commitBatch: (batched, work) =>
      batchPool.lend((connection) => {
        const beginMode = canSkipRoundTrip(connection) ? 'pipelined' : 'eager';
        return attempt(connection, { begin: beginOf(connection), clock, writers, beginMode, batched }, work);
      }),
    async close() {
      await Promise.all([pool.close(), batchPool.close()]);
    },
  };
}

/** The result of an attempt after its rows were committed and an in-doubt commit was resolved: an answer, or the error and the reason to retry. */
type Settled<T> = RunResult<T> | Pick<Extract<TransactionOutcome<never>, { error: unknown }>, 'error' | 'retryReason'>;

/** Creates the function that settles attempts: it commits pending rows in a batch, and resolves in-doubt commits. */
function createSettling(
  connections: Connections,
  batcher: CommitBatcher,
  inDoubtTimeout = 10_000,
): <T>(outcome: TransactionOutcome<T>) => Promise<Settled<T>> {
  async function resolveInDoubt(commit: InDoubtCommit): Promise<CommitOutcome> {
    for (const end = performance.now() + inDoubtTimeout; performance.now() < end; ) {
      // A server that cannot be reached yet leaves the commit in doubt; the loop tries again.
      const outcome = await connections
        .attempt((tx) => loadCommitOutcome(tx, commit), { longRunning: false, stale: 0, locks: [] })
        .catch(() => undefined);
      if (outcome !== undefined && 'answer' in outcome && outcome.answer !== 'open') return outcome.answer;
      await pause(IN_DOUBT_PAUSE);
    }
    return 'unknown';
  }

  return async (outcome) => {
    if ('answer' in outcome) {
      if (outcome.pending === undefined) return outcome;
      if (await batcher.commit(outcome.pending)) return { answer: outcome.answer, wrote: true };
      return { error: busy(new Error('the read set of the transaction is stale')), retryReason: 'stale' };
    }
    if (outcome.inDoubt === undefined) return outcome;
    const commitOutcome = await resolveInDoubt(outcome.inDoubt.commit);
    if (commitOutcome === 'committed') return { answer: outcome.inDoubt.answer, wrote: true };
    if (commitOutcome === 'undone') return { error: outcome.error, retryReason: 'conflict' };
    return { error: unknownOutcome(outcome.error), retryReason: undefined };
  };
}

function unknownOutcome(cause: unknown): Problem {
  return new Problem('STORAGE_UNAVAILABLE', 'the connection to the database was lost while it committed', {
    cause,
    hint: 'the change may have been saved: check before you try again',
  });
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
