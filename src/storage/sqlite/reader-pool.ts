import { statSync } from 'node:fs';
import { createSharedQueue } from '../anonymous-share.ts';
import type { LongQueue } from '../long-queue.ts';
import type { Reader } from './reader.ts';

/** Lends readers to long attempts. */
export interface ReaderPool {
  readonly queue: LongQueue;
  /** Runs `work` with a reader when it is the caller's turn, and closes the snapshot after it. @throws Problem STORAGE_BUSY */
  lend<T>(caller: string, work: (reader: Reader) => Promise<T>): Promise<T>;
  /** Waits for the long attempts, and closes the readers. */
  close(): Promise<void>;
}

/** Options of a reader pool. */
export interface ReaderPoolOptions {
  /** Number of readers, and so of long attempts at the same time. */
  readonly readers: number;
  /** Maximum long attempts that wait. */
  readonly queueLength: number;
  createReader(): Reader;
  readonly log: WriteAheadLog;
  /** Ends the statements of all readers at their next deadline check. */
  cancel(): void;
}

/** The write-ahead log of the database. */
export interface WriteAheadLog {
  /** The path of the file; undefined for a database in memory. */
  readonly path: string | undefined;
  /** Size in bytes above which no reader may take a new snapshot until the log was truncated. */
  readonly maxBytes: number;
  /** Writes the log into the database and truncates it, if no snapshot needs it. */
  truncate(): void;
}

/** Milliseconds that `close` waits for long attempts before it cancels them. */
const CLOSE_TIMEOUT = 5000;

/** Creates a reader pool; it creates readers as they are needed. */
export function createReaderPool({ readers, queueLength, createReader, log, cancel }: ReaderPoolOptions): ReaderPool {
  const all: Reader[] = [];
  const free: Reader[] = [];
  const queue = createSharedQueue({ concurrency: readers, length: queueLength, mayBegin: createLogLimit(log) });

  function take(): Reader {
    const reader = free.pop() ?? createReader();
    if (!all.includes(reader)) all.push(reader);
    return reader;
  }

  return {
    queue,
    lend<T>(caller: string, work: (reader: Reader) => Promise<T>) {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const run = async (): Promise<void> => {
        const reader = take();
        await work(reader).then(resolve, reject);
        // The answer does not wait for the end of the snapshot, but the next attempt does: it may have to truncate the log.
        await reader.end();
        free.push(reader);
      };
      queue.run(caller, run).catch(reject);
      return promise;
    },
    async close() {
      const timeout = setTimeout(cancel, CLOSE_TIMEOUT);
      await queue.close();
      clearTimeout(timeout);
      await Promise.all(all.map((reader) => reader.close()));
    },
  };
}

/** Maximum milliseconds of a pause: another program may keep a snapshot for minutes, for example to copy the database. */
const MAX_PAUSE = 1000;

/**
 * Returns the condition under which a reader may take a snapshot. SQLite truncates the write-ahead log only when no snapshot needs it. If
 * snapshots overlap without a pause, the log grows without a limit, so above its maximum size the readers of all processes pause until it was
 * truncated.
 */
function createLogLimit({ path, maxBytes, truncate }: WriteAheadLog): (running: number) => boolean {
  const isSmall = (): boolean => path === undefined || sizeOf(path) <= maxBytes;
  let pausedAt: number | undefined;
  return (running) => {
    if (!isSmall()) {
      if (running > 0) return false;
      pausedAt ??= performance.now();
      if (!succeeds(truncate) || !isSmall()) return performance.now() - pausedAt >= MAX_PAUSE;
    }
    pausedAt = undefined;
    return true;
  };
}

/** Returns the size of the log in bytes; 0 if the file system does not tell. Statements that read the file report what is wrong with it. */
function sizeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0;
  }
}

/**
 * Truncates the log. Returns false if this fails, for example because the disk is full: the next commit reports the reason, and an error here
 * would be that of a reader, which can read, or would end the process if a timer caused it.
 */
function succeeds(truncate: () => void): boolean {
  try {
    truncate();
    return true;
  } catch {
    return false;
  }
}
