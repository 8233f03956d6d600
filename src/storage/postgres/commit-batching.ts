import { Problem } from '../../errors.ts';
import { type CommitFigures, ConstraintError, type Transaction } from '../contract.ts';
import { readStale } from './commit-validation.ts';
import type { ReadSet } from './read-set.ts';
import type { TransactionOutcome } from './transaction.ts';
import type { Left } from './transaction-handle.ts';

/** Works whose rows share a commit at most: more would make the first of them wait long for its answer. */
const GROUP = 256;
/** Times that a group is tried. */
const ATTEMPTS = 5;

/** Appends what works leave that wrote nothing else: whatever came while a commit was in flight shares the next one. */
export interface EntryBatching {
  /** How many wait. */
  readonly waiting: number;
  /** Resolves once it is committed; false where what it rests on is no longer so: then nothing of it is. Throws Problems. */
  record(left: Left): Promise<boolean>;
}

/** How a group is committed: in a transaction of its own, in which `work` appends, if what these rest on is so. */
export type CommitGroup = (others: readonly ReadSet[], work: (tx: Transaction) => Promise<void>) => Promise<TransactionOutcome<void>>;

interface Queued {
  readonly left: Left;
  readonly resolve: (isCommitted: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** How often a group was tried, and what is known of it. */
interface Tried {
  readonly times: number;
  /** Whether one of the tries may have been committed, and nobody knows. */
  readonly doubtful: boolean;
}

/** How a recorder goes on. */
export interface EntryBatchingOptions {
  /** Groups that may be under way at once. */
  readonly flights: number;
  /** Told of each commit. */
  committed(commit: CommitFigures): void;
}

/** Makes a recorder. */
export function createEntryBatching(commit: CommitGroup, { flights, committed }: EntryBatchingOptions): EntryBatching {
  const queue: Queued[] = [];
  const settle = createSettling(commit, committed);
  let flying = 0;
  let scheduled = false;

  /** No timer: works that were answered in the same turn of the event loop are waited for, and no others. */
  function schedule(): void {
    if (scheduled || flying >= flights || queue.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      void fly(queue.splice(0, GROUP));
      schedule();
    });
  }

  async function fly(group: readonly Queued[]): Promise<void> {
    flying++;
    await settle(group, { times: 1, doubtful: false });
    flying--;
    schedule();
  }

  return {
    get waiting() {
      return queue.length;
    },
    record(left) {
      const { promise, resolve, reject } = Promise.withResolvers<boolean>();
      queue.push({ left, resolve, reject });
      schedule();
      return promise;
    },
  };
}

/** Commits a group, or as much of it as can be; every one of it is told. Never throws. */
type Settle = (group: readonly Queued[], tried: Tried) => Promise<void>;

function createSettling(commit: CommitGroup, committed: EntryBatchingOptions['committed']): Settle {
  async function settle(group: readonly Queued[], tried: Tried): Promise<void> {
    const outcome = await tryToCommit(commit, group);
    if ('answer' in outcome) {
      committed({ ms: outcome.ms, works: group.length });
      return tell(group, (one) => one.resolve(true));
    }
    const { error, passing } = outcome;
    if (tried.doubtful && isThere(error)) return tell(group, (one) => one.resolve(true));
    if (passing === 'stale') return settleOthers(group, error, tried);
    const doubtful = tried.doubtful || outcome.doubt !== undefined;
    if (tried.times < ATTEMPTS && (passing !== undefined || outcome.doubt !== undefined))
      return settle(group, { times: tried.times + 1, doubtful });
    if (group.length === 1 || isOutOfOrder(error)) return tell(group, (one) => one.reject(error));
    // One of them cannot be written: the others can.
    await Promise.all(group.map((one) => settle([one], { times: ATTEMPTS, doubtful })));
  }

  /**
   * Of those of a group for whom the guard did not fail. That one of a group rests on what is no longer so means that the group was
   * not committed by an earlier try either, nor ever will be: what has changed does not change back.
   */
  async function settleOthers(group: readonly Queued[], error: unknown, tried: Tried): Promise<void> {
    const isStale = readStale(error);
    const stale = group.filter(({ left }) => isStale(left.grounds));
    if (stale.length === 0) return tell(group, (one) => one.reject(error));
    tell(stale, (one) => one.resolve(false));
    const others = group.filter((one) => !stale.includes(one));
    if (others.length > 0) await settle(others, tried);
  }

  return settle;
}

async function tryToCommit(commit: CommitGroup, group: readonly Queued[]): Promise<TransactionOutcome<void>> {
  try {
    return await commit(
      group.map(({ left }) => left.grounds),
      async (tx) => {
        for (const { left } of group) for (const { appending, rows } of left.appended) await tx.append(appending, rows);
      },
    );
  } catch (error) {
    return { error, passing: undefined, broken: false };
  }
}

function tell(group: readonly Queued[], say: (one: Queued) => void): void {
  for (const one of group) say(one);
}

/** Its rows are there already: an earlier try was committed, of which nobody knew. */
function isThere(error: unknown): boolean {
  return error instanceof ConstraintError && error.constraint === 'unique' && error.columns.includes('id');
}

/** Whether it is the server and not the rows. */
function isOutOfOrder(error: unknown): boolean {
  return error instanceof Problem && error.status === 503;
}
