/**
 * Commits whose validation can take long, because a check scans a table for each record. They have a connection of their own, for which no other
 * commit waits. Writers of the compared records wait for their locks.
 */
import { Problem } from '../../errors.ts';
import { hasIndexOn } from '../../resources/index.ts';
import type { ReadWriteSet } from '../read-write-set.ts';
import type { RelatedCheck } from '../related/relation-set.ts';
import type { QueuedRequest } from './commit-queue.ts';
import type { CheckOptions } from './relation-checks.ts';

/** Maximum milliseconds of a statement if several units of work share a commit: enough for small tables, which often have no index. */
export const SHARED_CHECK = 50;
/** Maximum units of work per commit. */
const MAX_BATCH = 16;
/** Maximum deferred writes per commit, except those of its last unit of work. */
const MAX_WRITES = 32;
/** Maximum units of work that wait. */
const MAX_WAITING = 1000;

/** Returns true if one of the checks finds related records without an index. */
export function hasSlowCheck({ relations }: ReadWriteSet, { comparesLists }: CheckOptions): boolean {
  if (relations === undefined) return false;
  return (
    relations.related.some(needsScan) ||
    relations.lists.some(({ marks, needsScans }) => (comparesLists || marks === undefined) && needsScans())
  );
}

function needsScan({ resource, links }: RelatedCheck): boolean {
  return !links.some(({ field }) => hasIndexOn(resource, [field]));
}

/** The units of work with slow checks, which are committed one batch after another. Callers take turns. */
export interface SlowCommits {
  /** Number of waiting units of work. */
  readonly waiting: number;
  /** Adds a unit of work; rejects it if too many wait. */
  add(queued: QueuedRequest): void;
}

/** Creates an empty queue. `settle` commits a batch, and never throws. */
export function createSlowCommits(settle: (batch: readonly QueuedRequest[]) => Promise<void>): SlowCommits {
  const queue = new CallerQueue();
  let isRunning = false;

  async function run(): Promise<void> {
    while (queue.length > 0) await settle(queue.takeBatch());
    isRunning = false;
  }

  return {
    get waiting() {
      return queue.length;
    },
    add(queued) {
      if (queue.length >= MAX_WAITING)
        return queued.reject(new Problem('STORAGE_BUSY', `${MAX_WAITING} transactions with slow checks are waiting already`));
      queue.add(queued);
      if (isRunning) return;
      isRunning = true;
      // The first batch gets all that arrive in this turn of the event loop.
      setImmediate(() => void run());
    },
  };
}

/** Units of work by caller. */
class CallerQueue {
  readonly #queues = new Map<string, QueuedRequest[]>();
  length = 0;

  add(queued: QueuedRequest): void {
    const own = this.#queues.get(queued.caller) ?? [];
    own.push(queued);
    this.#queues.set(queued.caller, own);
    this.length++;
  }

  takeBatch(): readonly QueuedRequest[] {
    const batch: QueuedRequest[] = [];
    for (let writes = 0; batch.length < MAX_BATCH && writes < MAX_WRITES; ) {
      const queued = this.#takeNext();
      if (queued === undefined) break;
      batch.push(queued);
      writes += queued.request.deferred.length;
    }
    return batch;
  }

  /** Takes the first unit of work of the next caller, whose turn then comes after those of the others. */
  #takeNext(): QueuedRequest | undefined {
    const [next] = this.#queues;
    if (next === undefined) return undefined;
    const [caller, own] = next;
    const queued = own.shift();
    this.#queues.delete(caller);
    if (own.length > 0) this.#queues.set(caller, own);
    this.length--;
    return queued;
  }
}
