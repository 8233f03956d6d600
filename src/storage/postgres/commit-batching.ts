import { Problem } from '../../errors.ts';
import { type CommitMetrics, ConstraintError, type Transaction } from '../contract.ts';
import { createCommitQueue, isWriting, type QueuedRequest } from './commit-queue.ts';
import { maySucceed, namesList, parseStaleness } from './commit-validation.ts';
import { isCancelled, unknownOutcome } from './driver-error.ts';
import { IN_DOUBT_PAUSE, pause } from './in-doubt-commit.ts';
import { createSlowCommits, hasSlowCheck, SHARED_CHECK, type SlowCommits } from './slow-commits.ts';
import type { BatchedWork, TransactionOutcome } from './transaction.ts';
import type { CommitRequest } from './transaction-handle.ts';

/** Maximum attempts to commit a batch. */
const ATTEMPTS = 5;
/** Maximum attempts at a batch with stale reads of relations: each error names only some of the stale units of work. */
const STALE_ATTEMPTS = 4;
/** Milliseconds in which the records of lists are compared at once, after records on which lists depend were written. */
const COMPARING = 1000;

/** Commits units of work that only append rows and have deferred writes in batches: requests that arrive during a commit share the next one. */
export interface CommitBatcher {
  /** Number of waiting requests. */
  readonly waiting: number;
  /**
   * Resolves to true when the request is committed; to false if it was not committed and has to run again: its read set is stale, or a deferred write was
   * refused. Throws Problems.
   */
  commit(request: CommitRequest, caller: string): Promise<boolean>;
}

/** Commits one batch: validates the read and write sets and runs `work`, which appends the rows, in a transaction of its own. */
export type CommitBatch = (batch: BatchedWork, work: (tx: Transaction) => Promise<void>) => Promise<TransactionOutcome<void>>;

/** The previous attempts at a batch. */
interface Attempts {
  readonly count: number;
  /** True if a previous attempt may have been committed. */
  readonly inDoubt: boolean;
  /** The time at which the first attempt with deferred writes came into doubt, in milliseconds of the monotonic clock. */
  readonly inDoubtSince: number | undefined;
  /** Number of previous attempts with a stale read set. */
  readonly stale: number;
  /** True to compare the records of lists, and not only their write marks. */
  readonly comparesLists: boolean;
  /** True for units of work with slow checks. */
  readonly isSlow: boolean;
}

const NO_ATTEMPTS: Attempts = Object.freeze({
  count: 1,
  inDoubt: false,
  inDoubtSince: undefined,
  stale: 0,
  comparesLists: false,
  isSlow: false,
});

/** Options of a commit batcher. */
export interface CommitBatcherOptions {
  /** Maximum batches that are committed at the same time. */
  readonly concurrency: number;
  /** Maximum milliseconds to resolve an in-doubt commit of deferred writes. */
  readonly inDoubtTimeout: number;
  /** Called after each commit. */
  committed(commit: CommitMetrics): void;
}

/** Creates a commit batcher. */
export function createCommitBatcher(commitBatch: CommitBatch, options: CommitBatcherOptions): CommitBatcher {
  const queue = createCommitQueue();
  const settler = new BatchSettler(commitBatch, options);
  let running = 0;
  let scheduled = false;

  /** Waits for one turn of the event loop, not for a timer: the batch gets the requests that finish in the same turn. */
  function schedule(): void {
    if (scheduled || running >= options.concurrency || queue.isEmpty) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      const batch = queue.takeBatch();
      if (batch.length > 0) void run(batch);
      schedule();
    });
  }

  async function run(batch: readonly QueuedRequest[]): Promise<void> {
    running++;
    try {
      await settler.begin(batch);
    } finally {
      running--;
      schedule();
    }
  }

  return {
    get waiting() {
      return queue.length + settler.waiting;
    },
    commit(request, caller) {
      const { promise, resolve, reject } = Promise.withResolvers<boolean>();
      queue.add({ request, caller }, { resolve, reject });
      schedule();
      return promise;
    },
  };
}

/** Commits batches, and settles each of their requests. */
class BatchSettler {
  readonly #commitBatch: CommitBatch;
  readonly #options: CommitBatcherOptions;
  readonly #slow: SlowCommits = createSlowCommits((batch) => this.settle(batch, { ...NO_ATTEMPTS, comparesLists: true, isSlow: true }));
  #comparesUntil = 0;

  constructor(commitBatch: CommitBatch, options: CommitBatcherOptions) {
    this.#commitBatch = commitBatch;
    this.#options = options;
  }

  /** Number of units of work with slow checks that wait. */
  get waiting(): number {
    return this.#slow.waiting;
  }

  /** Commits a batch, and its requests with slow checks later. Never throws. */
  begin(batch: readonly QueuedRequest[]): Promise<void> {
    return this.#settleFast(batch, { ...NO_ATTEMPTS, comparesLists: performance.now() < this.#comparesUntil });
  }

  /**
   * Commits the requests without slow checks, and the others later, with attempts of their own. Earlier attempts at these, if any, were stale: none was
   * committed, nor will be.
   */
  async #settleFast(batch: readonly QueuedRequest[], attempts: Attempts): Promise<void> {
    const slow = new Set(batch.filter(({ request }) => hasSlowCheck(request.sets, attempts)));
    if (slow.size === 0) return this.settle(batch, attempts);
    for (const queued of slow) this.#slow.add(queued);
    const others = batch.filter((queued) => !slow.has(queued));
    if (others.length > 0) await this.settle(others, attempts);
  }

  /** Commits a batch, or as many of its requests as possible. Never throws. */
  async settle(batch: readonly QueuedRequest[], attempts: Attempts): Promise<void> {
    const outcome = await tryToCommit(this.#commitBatch, batch, attempts);
    if ('answer' in outcome) {
      this.#options.committed({ ms: outcome.ms, unitsOfWork: batch.length });
      return forEach(batch, (queued) => queued.resolve(true));
    }
    const { error, retryReason } = outcome;
    if (attempts.inDoubt && isAlreadyStored(error)) return forEach(batch, (queued) => queued.resolve(true));
    if (retryReason === 'stale' && !attempts.comparesLists && namesList(error)) {
      this.#comparesUntil = performance.now() + COMPARING;
      return this.#settleFast(batch, { ...attempts, comparesLists: true });
    }
    const inDoubt = attempts.inDoubt || outcome.inDoubt !== undefined;
    if (retryReason === 'stale' && !(inDoubt && maySucceed(error))) return this.#settleWithoutStale(batch, error, attempts);
    if (attempts.isSlow && batch.length > 1 && !inDoubt && wasCancelled(error)) return this.#settleEach(batch, attempts);
    // The statement of a deferred write may have failed. Its unit of work runs again with locks, and receives the error if it fails again.
    if (batch.some(isWriting))
      return inDoubt ? this.#settleInDoubt(batch, error, attempts) : this.#settleOthers(batch, isWriting, attempts);
    if (attempts.count < ATTEMPTS && (retryReason !== undefined || outcome.inDoubt !== undefined))
      return this.settle(batch, { ...attempts, count: attempts.count + 1, inDoubt });
    if (batch.length === 1 || isUnavailable(error)) return forEach(batch, (queued) => queued.reject(error));
    // The rows of at least one request cannot be written. Every request is committed on its own, so that only those fail.
    await this.#settleEach(batch, { ...attempts, count: ATTEMPTS, inDoubt });
  }

  /** Commits each request on its own; slow ones one after another, because they have one connection. */
  async #settleEach(batch: readonly QueuedRequest[], attempts: Attempts): Promise<void> {
    if (attempts.isSlow) for (const queued of batch) await this.settle([queued], attempts);
    else await Promise.all(batch.map((queued) => this.settle([queued], attempts)));
  }

  /**
   * Commits the requests that are not stale. A stale request also proves that no earlier attempt at the batch was committed, nor ever
   * will be, because a replaced state never becomes current again. A write that may succeed later is no such proof.
   */
  async #settleWithoutStale(batch: readonly QueuedRequest[], error: unknown, attempts: Attempts): Promise<void> {
    const isNamed = parseStaleness(error);
    const isLast = attempts.stale + 1 === STALE_ATTEMPTS;
    const isStale = ({ request }: QueuedRequest): boolean =>
      isNamed(request) || (isLast && (request.sets.relations !== undefined || request.deferred.length > 0));
    if (!batch.some(isStale)) return forEach(batch, (queued) => queued.reject(error));
    await this.#settleOthers(batch, isStale, { ...attempts, stale: attempts.stale + 1 });
  }

  /**
   * Sends a batch with deferred writes again, because an earlier attempt was perhaps committed, or will be if its message arrives late. The units of work
   * must not run again: they would do their writes twice. The entries have the same ids in each attempt, so at most one attempt is committed.
   */
  async #settleInDoubt(batch: readonly QueuedRequest[], error: unknown, attempts: Attempts): Promise<void> {
    const { inDoubtSince = performance.now() } = attempts;
    const isOver = performance.now() - inDoubtSince > this.#options.inDoubtTimeout;
    // If the server answers, it may refuse a write for as long as its row is locked, and other requests wait for this batch: few attempts are enough.
    if (!isOver && (attempts.count < ATTEMPTS || isUnreachable(error))) {
      await pause(IN_DOUBT_PAUSE);
      return this.settle(batch, { ...attempts, count: attempts.count + 1, inDoubt: true, inDoubtSince });
    }
    forEach(batch.filter(isWriting), (queued) => queued.reject(unknownOutcome(error)));
    const others = batch.filter((queued) => !isWriting(queued));
    if (others.length > 0) await this.settle(others, { ...attempts, inDoubt: true });
  }

  /** Lets some requests run again, and commits the others. */
  async #settleOthers(batch: readonly QueuedRequest[], runsAgain: (queued: QueuedRequest) => boolean, attempts: Attempts): Promise<void> {
    forEach(batch.filter(runsAgain), (queued) => queued.resolve(false));
    const others = batch.filter((queued) => !runsAgain(queued));
    if (others.length > 0) await this.settle(others, attempts);
  }
}

async function tryToCommit(
  commitBatch: CommitBatch,
  batch: readonly QueuedRequest[],
  { comparesLists, isSlow, inDoubt }: Attempts,
): Promise<TransactionOutcome<void>> {
  try {
    const work = {
      sets: batch.map(({ request }) => request.sets),
      deferred: batch.flatMap(({ request }) => request.deferred),
      comparesLists,
      isSlow,
      statementLimit: isSlow && batch.length > 1 && !inDoubt ? SHARED_CHECK : undefined,
    };
    return await commitBatch(work, async (tx) => {
      for (const { request } of batch) for (const { statements, rows } of request.appends) tx.append(statements, rows);
    });
  } catch (error) {
    return { error, retryReason: undefined, broken: false };
  }
}

function forEach(batch: readonly QueuedRequest[], settle: (queued: QueuedRequest) => void): void {
  for (const queued of batch) settle(queued);
}

/** Returns true if an id exists already: an earlier attempt, whose commit was in doubt, has stored the rows. */
function isAlreadyStored(error: unknown): boolean {
  return error instanceof ConstraintError && error.constraint === 'unique' && error.columns.includes('id');
}

/** Returns true if the server has cancelled a statement. */
function wasCancelled(error: unknown): boolean {
  return error instanceof Problem && isCancelled(error.cause);
}

/** Returns true if nothing can be committed until the server is available again. */
function isUnreachable(error: unknown): boolean {
  return error instanceof Problem && error.code === 'STORAGE_UNAVAILABLE';
}

/** Returns true if the server is unavailable or busy; committing every request on its own would then fail too. */
function isUnavailable(error: unknown): boolean {
  return error instanceof Problem && error.status === 503;
}
