import { Worker } from 'node:worker_threads';
import { Problem } from '../../errors.ts';
import { AttemptEnded } from '../attempt.ts';
import type { Log, Statement } from '../contract.ts';
import type { Turns } from '../turns.ts';
import type { Connection, SqliteRow } from './connection.ts';
import { StatementTimeout, toDriverError } from './driver-error.ts';
import type { ReaderError, ReaderReply, ReaderRequest, ReaderStart } from './reader-protocol.ts';

/** Runs the statements of one long attempt at a time. */
export interface Reader {
  /**
   * Runs a statement that only reads. The first statement of an attempt takes the snapshot that all of them read.
   *
   * @throws StatementTimeout if a deadline check finds that the milliseconds are over; AttemptEnded if the reader was lost
   */
  query(statement: Statement, milliseconds: number): Promise<ReaderAnswer>;
  /** Closes the snapshot, so that the write-ahead log can be truncated. */
  end(): void;
  close(): Promise<void>;
}

/** The rows of a statement, and the milliseconds that it took. */
export interface ReaderAnswer {
  readonly rows: readonly SqliteRow[];
  readonly milliseconds: number;
}

/** The entry file of the threads, beside this file in `src/` and beside its bundle in `dist/`. */
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './reader-thread.ts' : './reader-thread.js', import.meta.url);
/** Maximum megabytes of JavaScript values in a thread. Beyond it, the thread ends and the process goes on. */
const MEMORY = 512;

/** The components of a reader. */
export interface ReaderDeps {
  /** Returns the data for a new thread. */
  start(): ReaderStart;
  readonly turns: Turns;
  readonly log: Log;
}

/** Creates a reader in a thread. The thread starts with the first statement, and again after it was lost. */
export function createThreadReader({ start, turns, log }: ReaderDeps): Reader {
  const pending = createPendingQueries(turns);
  let thread: Worker | undefined;
  /** Set if the thread was lost during an attempt, whose snapshot is lost with it. */
  let lost: { readonly cause: unknown } | undefined;

  function startThread(): Worker {
    const created = new Worker(ENTRY, { workerData: start(), execArgv: [], resourceLimits: { maxOldGenerationSizeMb: MEMORY } });
    created.on('message', (reply: ReaderReply) => pending.settle(reply, (request) => created.postMessage(request)));
    created.on('error', (error) => lose(created, error));
    created.on('exit', () => lose(created, new Error('the thread ended')));
    return created;
  }

  /** Rejects the statements of a thread that ended by itself. */
  function lose(ended: Worker, cause: unknown): void {
    if (thread !== ended) return;
    thread = undefined;
    lost = { cause };
    log(`a reader thread ended: ${cause instanceof Error ? cause.message : String(cause)}; the next long search starts another`);
    pending.rejectAll(isOutOfMemory(cause) ? outOfMemory(cause) : new AttemptEnded('lost', cause));
  }

  return {
    query(statement, milliseconds) {
      if (lost !== undefined) return Promise.reject(new AttemptEnded('lost', lost.cause));
      thread ??= startThread();
      // The process must not end while a request waits for the thread.
      thread.ref();
      const { id, answer } = pending.add();
      thread.postMessage({ type: 'query', id, ...statement, milliseconds } satisfies ReaderRequest);
      return answer;
    },
    end() {
      lost = undefined;
      pending.clear();
      thread?.postMessage({ type: 'end' } satisfies ReaderRequest);
      thread?.unref();
    },
    async close() {
      const closing = thread;
      thread = undefined;
      if (closing === undefined) return;
      closing.ref();
      const exit = new Promise((resolve) => closing.once('exit', resolve));
      closing.postMessage({ type: 'close' } satisfies ReaderRequest);
      await exit;
    },
  };
}

interface PendingQuery extends Pick<PromiseWithResolvers<ReaderAnswer>, 'resolve' | 'reject'> {
  /** The rows that have arrived. */
  readonly rows: SqliteRow[];
}

/** Statements of a thread that were not answered completely. */
interface PendingQueries {
  add(): { readonly id: number; readonly answer: Promise<ReaderAnswer> };
  /** Adds a part of an answer, and requests the next part or settles the statement. */
  settle(reply: ReaderReply, post: (request: ReaderRequest) => void): void;
  rejectAll(error: unknown): void;
  /** Forgets the statements of an attempt that has ended. */
  clear(): void;
}

function createPendingQueries(turns: Turns): PendingQueries {
  const queries = new Map<number, PendingQuery>();
  let lastId = 0;
  return {
    add() {
      const { promise, resolve, reject } = Promise.withResolvers<ReaderAnswer>();
      queries.set(++lastId, { rows: [], resolve, reject });
      return { id: lastId, answer: promise };
    },
    settle(reply, post) {
      // Continues in a turn of its own: rows of several threads may arrive together.
      void turns.take(() => {
        const query = queries.get(reply.id);
        if (query === undefined) return;
        if ('rows' in reply) for (const row of reply.rows) query.rows.push(row);
        if ('rows' in reply && !reply.isLast) return post({ type: 'more', id: reply.id });
        queries.delete(reply.id);
        if ('rows' in reply) query.resolve({ rows: query.rows, milliseconds: reply.milliseconds });
        else query.reject(toError(reply.error));
      });
    },
    rejectAll(error) {
      for (const { reject } of queries.values()) reject(error);
      queries.clear();
    },
    clear: () => queries.clear(),
  };
}

/** Creates a reader on the connection of the service itself, for a database in memory, which no thread can open. */
export function createOwnReader(connection: Connection, turns: Turns): Reader {
  return {
    query: (statement, milliseconds) =>
      // No commit batch is open at the beginning of a turn. Between the statements of an attempt, others may commit, as on PostgreSQL.
      turns.take(() => {
        const begun = performance.now();
        connection.beginReading();
        connection.deadline.timer = { remaining: milliseconds, add: () => undefined };
        try {
          const rows = connection.all(statement);
          return { rows, milliseconds: performance.now() - begun };
        } finally {
          connection.deadline.timer = undefined;
          connection.exec('ROLLBACK');
        }
      }),
    end: () => undefined,
    close: async () => undefined,
  };
}

function toError({ isTimeout, code, message }: ReaderError): Error {
  return isTimeout ? new StatementTimeout() : toDriverError(message, code);
}

function isOutOfMemory(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function outOfMemory(cause: unknown): Problem {
  return new Problem('REQUEST_BUDGET', 'the rows of the request take more memory than it may use', { cause });
}
