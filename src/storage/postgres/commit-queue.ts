import type { CommitRequest } from './transaction-handle.ts';

/** Maximum units of work per commit: in a larger batch, the first requests would wait long for their answers. */
const MAX_BATCH = 256;
/** Maximum deferred writes per commit, except those of its last unit of work. Each update is a statement of its own. */
const MAX_WRITES = 32;

/** A unit of work that waits for its commit. */
export interface QueuedRequest extends Settling {
  readonly request: CommitRequest;
  /** A text that identifies the caller. */
  readonly caller: string;
}

/** The functions that resolve or reject the promise of a request. */
interface Settling {
  readonly resolve: (isCommitted: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** The units of work that wait for a commit. */
export interface CommitQueue {
  /** Number of waiting requests, including those that wait until a write of the same row or unique value is settled. */
  readonly length: number;
  /** True if the next batch would have no requests. */
  readonly isEmpty: boolean;
  add(work: Pick<QueuedRequest, 'request' | 'caller'>, settling: Settling): void;
  /**
   * Removes the requests of the next batch. A request that writes a row or a unique value of a running batch would find it changed or taken. It is left
   * out, and runs again when the first write is settled.
   */
  takeBatch(): readonly QueuedRequest[];
}

/** The request of a running batch that writes a row or a unique value, and the requests that run again when it is settled. */
interface Writer {
  readonly owner: QueuedRequest;
  readonly others: QueuedRequest[];
}

/** Creates an empty queue. */
export function createCommitQueue(): CommitQueue {
  return new Queue();
}

class Queue implements CommitQueue {
  readonly #queue: QueuedRequest[] = [];
  readonly #writers = new Map<string, Writer>();
  #held = 0;

  get length(): number {
    return this.#queue.length + this.#held;
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  add(work: Pick<QueuedRequest, 'request' | 'caller'>, { resolve, reject }: Settling): void {
    const queued: QueuedRequest = {
      ...work,
      resolve: (isCommitted) => {
        this.#end(queued);
        resolve(isCommitted);
      },
      reject: (error) => {
        this.#end(queued);
        reject(error);
      },
    };
    this.#queue.push(queued);
  }

  takeBatch(): readonly QueuedRequest[] {
    const batch: QueuedRequest[] = [];
    let writes = 0;
    while (batch.length < MAX_BATCH && writes < MAX_WRITES) {
      const queued = this.#queue.shift();
      if (queued === undefined) break;
      const writer = this.#writerOf(queued);
      if (writer !== undefined) {
        writer.others.push(queued);
        this.#held++;
        continue;
      }
      batch.push(queued);
      writes += queued.request.deferred.length;
      for (const hold of holdsOf(queued)) this.#writers.set(hold, { owner: queued, others: [] });
    }
    return batch;
  }

  #writerOf(queued: QueuedRequest): Writer | undefined {
    const held = holdsOf(queued).find((hold) => this.#writers.has(hold));
    return held === undefined ? undefined : this.#writers.get(held);
  }

  /** Ends the writes of a settled request: the requests that wait for them run again. */
  #end(queued: QueuedRequest): void {
    for (const hold of holdsOf(queued)) {
      const writer = this.#writers.get(hold);
      if (writer?.owner !== queued) continue;
      this.#writers.delete(hold);
      this.#held -= writer.others.length;
      for (const other of writer.others) other.resolve(false);
    }
  }
}

/** Returns the texts of the rows and unique values that a request writes. */
function holdsOf({ request }: QueuedRequest): readonly string[] {
  return request.deferred.flatMap(({ holds }) => holds);
}

/** Returns true for a unit of work with deferred writes. */
export function isWriting({ request }: QueuedRequest): boolean {
  return request.deferred.length > 0;
}
