import { Problem } from '../../errors.ts';
import { createSharedQueue } from '../anonymous-share.ts';
import type { AttemptKind } from '../attempt.ts';
import type { CommitMetrics, CommitObserver, DatabaseMetrics, Transaction, TransactionOptions } from '../contract.ts';
import type { Turns } from '../turns.ts';
import { type CommitBatcher, createCommitBatcher } from './commit-batching.ts';
import { type AttemptOptions, BLOCK_AFTER, CONCURRENT_BATCHES, type ConnectionPools, createConnectionPools } from './connection-pools.ts';
import type { ConnectionPoolOptions, PostgresAddress } from './connection-string.ts';
import { busy, unknownOutcome } from './driver-error.ts';
import { type CommitOutcome, IN_DOUBT_PAUSE, type InDoubtCommit, loadCommitOutcome, pause } from './in-doubt-commit.ts';
import type { TransactionOutcome } from './transaction.ts';

/** Options of a runner. */
export interface RunnerOptions extends ConnectionPoolOptions {
  /** Maximum milliseconds to resolve an in-doubt commit; 10,000 if absent. */
  readonly inDoubtTimeout?: number;
  /** Called after each commit. */
  readonly observer?: CommitObserver | undefined;
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
  /** The turns of long attempts. */
  readonly turns: Turns;
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
/** Number of records above which a unit of work is a large write. */
const LARGE_WRITE = 200;
/** Large writes that run at the same time, at most one of each caller, and those that wait. */
const LARGE_WRITES = { concurrency: 2, perCaller: 1, length: 20 };
/** The time limit of a long attempt without one of its own, in milliseconds. */
const LONG_LIMIT = 30_000;

/** Creates a runner; it connects with the first unit of work. */
export function createRunner(address: PostgresAddress, { inDoubtTimeout = 10_000, ...options }: RunnerOptions): Runner {
  const connections = createConnectionPools(address, options);
  const batcher = createCommitBatcher(connections.commitBatch, { concurrency: CONCURRENT_BATCHES, inDoubtTimeout, committed });
  const settle = createSettling(connections, batcher, inDoubtTimeout);
  const counts = { commits: 0, unitsOfWork: 0, validationRetries: 0 };
  const attemptAll = createAttempts({ connections, settle, counts, committed });
  const largeWrites = createSharedQueue(LARGE_WRITES);

  function committed(commit: CommitMetrics): void {
    counts.commits++;
    options.observer?.committed(commit);
  }

  function run<T>(work: Work<T>, how: TransactionOptions): Promise<RunResult<T>> {
    const { writes = 0, caller = '' } = how;
    return writes > LARGE_WRITE ? largeWrites.run(caller, () => runNow(work, how)) : runNow(work, how);
  }

  async function runNow<T>(work: Work<T>, how: TransactionOptions): Promise<RunResult<T>> {
    if (connections.waiting + batcher.waiting >= MAX_QUEUE)
      throw new Problem('STORAGE_BUSY', `${MAX_QUEUE} transactions are waiting already`);
    const kind = firstKind(how);
    const yieldFirst = kind === 'short' ? connections.turns.goFirst() : undefined;
    const state = { retained: new Map<string, unknown>(), limit: how.milliseconds ?? LONG_LIMIT, stale: 0, yieldFirst };
    try {
      return await attemptAll(work, { kind, caller: how.caller ?? '', state });
    } finally {
      yieldFirst?.();
    }
  }

  return {
    get metrics() {
      const { longWaiting, longRefused, ...metrics } = connections.metrics;
      return {
        ...counts,
        ...metrics,
        waiting: connections.waiting + batcher.waiting,
        longWaiting: longWaiting + largeWrites.waiting,
        longRefused: longRefused + largeWrites.refused,
      };
    },
    get fault() {
      return connections.fault;
    },
    turns: connections.turns,
    run,
    close: connections.close,
  };
}

type Work<T> = (tx: Transaction) => Promise<T>;

/** Returns the number of attempts with a stale read set, or as many as let the next attempt block writers, if it must. */
function nextStale(outcome: TransactionOutcome<unknown>, { stale, kind }: Pick<AttemptOptions, 'stale' | 'kind'>): number {
  const needsBlocking = 'needsBlocking' in outcome && outcome.needsBlocking === true;
  if (needsBlocking && kind === 'long') {
    const detail =
      'a list that takes long, and a change of records on which the access to the listed ones depends, cannot be parts of one batch';
    throw new Problem('REQUEST_BUDGET', detail, { hint: 'send them as separate requests' });
  }
  return needsBlocking ? Math.max(stale + 1, BLOCK_AFTER) : stale + 1;
}

/** The first attempt at a unit of work. */
interface FirstAttempt extends Pick<AttemptOptions, 'kind' | 'caller' | 'state'> {}

/** The components that run the attempts at a unit of work. */
interface AttemptDeps {
  readonly connections: ConnectionPools;
  readonly settle: Settle;
  readonly counts: { unitsOfWork: number; validationRetries: number };
  committed(commit: CommitMetrics): void;
}

/** Creates the function that runs as many attempts at a unit of work as it needs. */
function createAttempts({
  connections,
  settle,
  counts,
  committed,
}: AttemptDeps): <T>(work: Work<T>, first: FirstAttempt) => Promise<RunResult<T>> {
  return async (work, { caller, state, ...first }) => {
    let { kind } = first;
    let locks: readonly string[] = [];
    for (let [conflicts, stale, sharesReads] = [0, 0, true]; ; sharesReads = false) {
      const outcome = await connections.attempt(work, { kind, stale, locks, sharesReads, caller, state });
      if ('answer' in outcome && outcome.pending === undefined && outcome.wrote) committed({ ms: outcome.ms, unitsOfWork: 1 });
      const settled = await settle(outcome, caller);
      if ('answer' in settled) {
        if (settled.wrote) counts.unitsOfWork++;
        return settled;
      }
      if (settled.retryReason === 'long') kind = 'long';
      else if (settled.retryReason === 'stale') {
        stale = nextStale(outcome, { stale, kind });
        counts.validationRetries++;
      } else conflicts++;
      state.stale = stale;
      // Many units of work that wait for one lock would each find a stale read set, so the retry takes the locks before it reads.
      if ('locks' in outcome && settled.retryReason === 'stale') locks = outcome.locks ?? [];
      if (settled.retryReason === undefined || conflicts === ATTEMPTS || stale === STALE_ATTEMPTS) throw settled.error;
      // Two transactions in conflict would conflict again if both were retried at once.
      if (settled.retryReason === 'conflict') await pause(Math.random() * 10 * conflicts);
    }
  };
}

function firstKind({ unlimited, beginsLong }: TransactionOptions): AttemptKind {
  if (unlimited) return 'unlimited';
  return beginsLong ? 'long' : 'short';
}

/** The attempt that queries an in-doubt commit. */
const IN_DOUBT_ATTEMPT = Object.freeze({ kind: 'short', stale: 0, locks: [], sharesReads: false, caller: '' });

/** The result of an attempt after its rows were committed and an in-doubt commit was resolved: an answer, or the error and the reason to retry. */
type Settled<T> = RunResult<T> | Pick<Extract<TransactionOutcome<never>, { error: unknown }>, 'error' | 'retryReason'>;

type Settle = <T>(outcome: TransactionOutcome<T>, caller: string) => Promise<Settled<T>>;

/** Creates the function that settles attempts: it commits pending rows in a batch, and resolves in-doubt commits. */
function createSettling(connections: ConnectionPools, batcher: CommitBatcher, inDoubtTimeout: number): Settle {
  async function resolveInDoubt(commit: InDoubtCommit): Promise<CommitOutcome> {
    for (const end = performance.now() + inDoubtTimeout; performance.now() < end; ) {
      // A server that cannot be reached yet leaves the commit in doubt; the loop tries again.
      const outcome = await connections
        .attempt((tx) => loadCommitOutcome(tx, commit), { ...IN_DOUBT_ATTEMPT, state: { retained: new Map(), limit: inDoubtTimeout } })
        .catch(() => undefined);
      if (outcome !== undefined && 'answer' in outcome && outcome.answer !== 'open') return outcome.answer;
      await pause(IN_DOUBT_PAUSE);
    }
    return 'unknown';
  }

  return async (outcome, caller) => {
    if ('answer' in outcome) {
      if (outcome.pending === undefined) return outcome;
      if (await batcher.commit(outcome.pending, caller)) return { answer: outcome.answer, wrote: true };
      return { error: busy(new Error('the read set of the transaction is stale')), retryReason: 'stale' };
    }
    if (outcome.inDoubt === undefined) return outcome;
    const commitOutcome = await resolveInDoubt(outcome.inDoubt.commit);
    if (commitOutcome === 'committed') return { answer: outcome.inDoubt.answer, wrote: true };
    if (commitOutcome === 'undone') return { error: outcome.error, retryReason: 'conflict' };
    return { error: unknownOutcome(outcome.error), retryReason: undefined };
  };
}
