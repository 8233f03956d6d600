/**
 * Commits whose validation can take long, because a check scans a table for each record. They have a connection of their own, so that no other commit
 * waits for them, and a time limit, because writers of the records wait until the records are compared.
 */
import { hasIndexOn } from '../../resources/index.ts';
import type { ReadWriteSet } from '../read-write-set.ts';
import type { RelatedCheck } from '../relation-set.ts';
import type { QueuedRequest } from './commit-queue.ts';
import type { CheckOptions } from './relation-checks.ts';

/** Maximum milliseconds of a statement with slow checks. */
export const SLOW_CHECK = 1000;
/** Milliseconds that a commit should take: as many units of work share it as their predecessors let expect. */
const COMMIT_TIME = 50;
/** Maximum units of work per commit. */
const MAX_BATCH = 64;

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

/** The units of work with slow checks, which are committed one batch after another. */
export interface SlowCommits {
  /** Number of waiting units of work. */
  readonly waiting: number;
  add(queued: QueuedRequest): void;
}

/** Creates an empty queue. `settle` commits a batch, and never throws. */
export function createSlowCommits(settle: (batch: readonly QueuedRequest[]) => Promise<void>): SlowCommits {
  const queue: QueuedRequest[] = [];
  let isRunning = false;
  let size = 1;

  async function run(): Promise<void> {
    isRunning = true;
    while (queue.length > 0) {
      const batch = queue.splice(0, size);
      const start = performance.now();
      await settle(batch);
      const each = (performance.now() - start) / batch.length;
      size = Math.max(1, Math.min(MAX_BATCH, Math.floor(COMMIT_TIME / each)));
    }
    isRunning = false;
  }

  return {
    get waiting() {
      return queue.length;
    },
    add(queued) {
      queue.push(queued);
      if (!isRunning) void run();
    },
  };
}
