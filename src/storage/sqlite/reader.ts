import { Worker } from 'node:worker_threads';
import { Problem } from '../../errors.ts';
import { AttemptEnded } from '../attempt.ts';
import type { Log, Statement } from '../contract.ts';
import type { Turns } from '../turns.ts';
import type { Connection } from './connection.ts';
import { StatementTimeout, toDriverError } from './driver-error.ts';
import type { QueryReply, ReaderError, ReaderReply, ReaderRequest, ReaderStart } from './reader-protocol.ts';
import type { SqliteRow } from './statement-cache.ts';

/** Runs the statements of one long attempt at a time. */
export interface Reader {
  /**
   * Runs a statement that only reads. The first statement of an attempt takes the snapshot that all of them read.
   *
   * @throws StatementTimeout if a deadline check finds that the milliseconds are over; AttemptEnded if the reader was lost
   */
  query(statement: Statement, milliseconds: number): Promise<ReaderAnswer>;
  /** Closes the snapshot. Resolves when it is closed, so that the write-ahead log can be truncated. */
  end(): Promise<void>;
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
export function createThreadReader(deps: ReaderDeps): Reader {
  const pending = createPendingQueries(deps.turns);
  const thread = new ReaderThread(deps, pending);
  return {
    query(statement, milliseconds) {
      if (thread.lost !== undefined) return Promise.reject(new AttemptEnded('lost', thread.lost.cause));
      const { id, answer } = pending.add();
      thread.post({ type: 'query', id, ...statement, milliseconds });
      return answer;
    },
    end() {
      pending.clear();
      return thread.end();
    },
    close: () => thread.close(),
  };
}

/** The thread of a reader. */
class ReaderThread {
  /** Set if the thread was lost during an attempt, whose snapshot is lost with it. */
  lost: { readonly cause: unknown } | undefined;
  private readonly deps: ReaderDeps;
  private readonly pending: PendingQueries;
  private worker: Worker | undefined;
  /** Resolves the promise of `end`. */
  private ended: (() => void) | undefined;

  constructor(deps: ReaderDeps, pending: PendingQueries) {
    this.deps = deps;
    this.pending = pending;
  }

  /** Sends a request; starts the thread if it does not run. */
  post(request: ReaderRequest): void {
    this.worker ??= this.start();
    // The process must not end while a request waits for the thread.
    this.worker.ref();
    this.worker.postMessage(request);
  }

  /** Ends an attempt. Resolves when its snapshot is closed. */
  end(): Promise<void> {
    this.lost = undefined;
    if (this.worker === undefined) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = resolve;
    this.worker.postMessage({ type: 'end' } satisfies ReaderRequest);
    return promise;
  }

  async close(): Promise<void> {
    const closing = this.worker;
    this.worker = undefined;
    if (closing === undefined) return;
    closing.ref();
    const exit = new Promise((resolve) => closing.once('exit', resolve));
    closing.postMessage({ type: 'close' } satisfies ReaderRequest);
    await exit;
  }

  private start(): Worker {
    const limits = { maxOldGenerationSizeMb: MEMORY };
    const worker = new Worker(ENTRY, { workerData: this.deps.start(), execArgv: [], resourceLimits: limits });
    worker.on('message', (reply: ReaderReply) => {
      if ('isEnded' in reply) this.finishEnd();
      else this.pending.settle(reply, (request) => worker.postMessage(request));
    });
    worker.on('error', (error) => this.lose(worker, error));
    worker.on('exit', () => this.lose(worker, new Error('the thread ended')));
    return worker;
  }

  private finishEnd(): void {
    this.worker?.unref();
    this.ended?.();
    this.ended = undefined;
  }

  /** Rejects the statements of a thread that ended by itself. */
  private lose(gone: Worker, cause: unknown): void {
    if (this.worker !== gone) return;
    this.worker = undefined;
    this.finishEnd();
    this.lost = { cause };
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.deps.log(`a reader thread ended: ${reason}; the next long search starts another`);
    this.pending.rejectAll(isOutOfMemory(cause) ? outOfMemory(cause) : new AttemptEnded('lost', cause));
  }
}

interface PendingQuery extends Pick<PromiseWithResolvers<ReaderAnswer>, 'resolve' | 'reject'> {
  /** The rows that have arrived. */
  readonly rows: SqliteRow[];
}

/** Statements of a thread that were not answered completely. */
interface PendingQueries {
  add(): { readonly id: number; readonly answer: Promise<ReaderAnswer> };
  /** Adds a part of an answer, and requests the next part or settles the statement. */
  settle(reply: QueryReply, post: (request: ReaderRequest) => void): void;
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
    end: async () => undefined,
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
