import { Problem } from '../../errors.ts';
import { type CommitMetrics, ConstraintError, type Transaction } from '../contract.ts';
import { namesList, parseStaleness } from './commit-validation.ts';
import type { BatchedWork, TransactionOutcome } from './transaction.ts';
import type { CommitRequest } from './transaction-handle.ts';

/** Maximum units of work per commit: in a larger batch, the first requests would wait long for their answers. */
const MAX_BATCH = 256;
/** Maximum attempts to commit a batch. */
const ATTEMPTS = 5;
/** Maximum attempts at a batch with stale reads of relations: each error names only some of the stale units of work. */
const STALE_ATTEMPTS = 4;
/** Milliseconds in which the records of lists are compared at once, after records on which lists depend were written. */
const COMPARING = 1000;

/** Commits units of work that only append rows in batches: requests that arrive during a commit share the next one. */
export interface CommitBatcher {
  /** Number of waiting requests. */
  readonly waiting: number;
  /** Resolves to true when the request is committed; to false if its read set is stale, so that it was not committed. Throws Problems. */
  commit(request: CommitRequest): Promise<boolean>;
}

/** Commits one batch: validates the read and write sets and runs `work`, which appends the rows, in a transaction of its own. */
export type CommitBatch = (batch: BatchedWork, work: (tx: Transaction) => Promise<void>) => Promise<TransactionOutcome<void>>;

interface QueuedRequest {
  readonly request: CommitRequest;
  readonly resolve: (isCommitted: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** The previous attempts at a batch. */
interface Attempts {
  readonly count: number;
  /** True if a previous attempt may have been committed. */
  readonly inDoubt: boolean;
  /** Number of previous attempts with a stale read set. */
  readonly stale: number;
  /** True to compare the records of lists, and not only their write marks. */
  readonly comparesLists: boolean;
}

/** Options of a commit batcher. */
export interface CommitBatcherOptions {
  /** Maximum batches that are committed at the same time. */
  readonly concurrency: number;
  /** Called after each commit. */
  committed(commit: CommitMetrics): void;
}

/** Creates a commit batcher. */
export function createCommitBatcher(commitBatch: CommitBatch, { concurrency, committed }: CommitBatcherOptions): CommitBatcher {
  const queue: QueuedRequest[] = [];
  const settleBatch = createBatchSettler(commitBatch, committed);
  let running = 0;
  let scheduled = false;

  /** Waits for one turn of the event loop, not for a timer: the batch gets the requests that finish in the same turn. */
  function schedule(): void {
    if (scheduled || running >= concurrency || queue.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      void run(queue.splice(0, MAX_BATCH));
      schedule();
    });
  }

  async function run(batch: readonly QueuedRequest[]): Promise<void> {
    running++;
    await settleBatch(batch, { count: 1, inDoubt: false, stale: 0, comparesLists: false });
    running--;
    schedule();
  }

  return {
    get waiting() {
      return queue.length;
    },
    commit(request) {
      const { promise, resolve, reject } = Promise.withResolvers<boolean>();
      queue.push({ request, resolve, reject });
      schedule();
      return promise;
    },
  };
}

/** Commits a batch, or as many of its requests as possible, and settles each of them. Never throws. */
type SettleBatch = (batch: readonly QueuedRequest[], attempts: Attempts) => Promise<void>;

function createBatchSettler(commitBatch: CommitBatch, committed: CommitBatcherOptions['committed']): SettleBatch {
  let comparesUntil = 0;

  async function settleBatch(batch: readonly QueuedRequest[], attempts: Attempts): Promise<void> {
    const comparesLists = attempts.comparesLists || performance.now() < comparesUntil;
    const outcome = await tryToCommit(commitBatch, batch, comparesLists);
    if ('answer' in outcome) {
      committed({ ms: outcome.ms, unitsOfWork: batch.length });
      return forEach(batch, (queued) => queued.resolve(true));
    }
    const { error, retryReason } = outcome;
    if (attempts.inDoubt && isAlreadyStored(error)) return forEach(batch, (queued) => queued.resolve(true));
    if (retryReason === 'stale' && !comparesLists && namesList(error)) {
      comparesUntil = performance.now() + COMPARING;
      return settleBatch(batch, { ...attempts, comparesLists: true });
    }
    if (retryReason === 'stale') return settleWithoutStale(batch, error, attempts);
    const inDoubt = attempts.inDoubt || outcome.inDoubt !== undefined;
    if (attempts.count < ATTEMPTS && (retryReason !== undefined || outcome.inDoubt !== undefined))
      return settleBatch(batch, { ...attempts, count: attempts.count + 1, inDoubt });
    if (batch.length === 1 || isUnavailable(error)) return forEach(batch, (queued) => queued.reject(error));
    // The rows of at least one request cannot be written. Every request is committed on its own, so that only those fail.
    await Promise.all(batch.map((queued) => settleBatch([queued], { ...attempts, count: ATTEMPTS, inDoubt })));
  }

  /**
   * Commits the requests that are not stale. A stale request also proves that no earlier attempt at the batch was committed, nor ever
   * will be, because a replaced state never becomes current again.
   */
  async function settleWithoutStale(batch: readonly QueuedRequest[], error: unknown, attempts: Attempts): Promise<void> {
    const isNamed = parseStaleness(error);
    const isLast = attempts.stale + 1 === STALE_ATTEMPTS;
    const stale = batch.filter(({ request: { sets } }) => isNamed(sets) || (isLast && sets.relations !== undefined));
    if (stale.length === 0) return forEach(batch, (queued) => queued.reject(error));
    forEach(stale, (queued) => queued.resolve(false));
    const others = batch.filter((queued) => !stale.includes(queued));
    if (others.length > 0) await settleBatch(others, { ...attempts, stale: attempts.stale + 1 });
  }

  return settleBatch;
}

async function tryToCommit(
  commitBatch: CommitBatch,
  batch: readonly QueuedRequest[],
  comparesLists: boolean,
): Promise<TransactionOutcome<void>> {
  try {
    return await commitBatch({ sets: batch.map(({ request }) => request.sets), comparesLists }, async (tx) => {
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

/** Returns true if the server is unavailable or busy; committing every request on its own would then fail too. */
function isUnavailable(error: unknown): boolean {
  return error instanceof Problem && error.status === 503;
}
