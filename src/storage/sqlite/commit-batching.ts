import { Problem } from '../../errors.ts';
import { type ChainWriters, createChainWriters, type TransactionEnd, type WriterLease } from '../chain-writers.ts';
import { type CommitObserver, type DatabaseMetrics, type PendingAppend, type Transaction, toAppendStatements } from '../contract.ts';
import { createHealth } from '../storage-health.ts';
import { type BatchAttempt, withoutLimit } from './batch-attempt.ts';
import type { Connection } from './connection.ts';
import { unavailable } from './driver-error.ts';
import { assertOpenFiles, createRestoreDetector, type OpenFiles } from './open-files.ts';
import { type OpenTransaction, openTransaction } from './transaction.ts';
import { createTurnDeadline, type TurnDeadline } from './turn-deadline.ts';
import { beginLocked, type WriteLock } from './write-lock.ts';

/** Maximum units of work per commit: with more, the first of them would wait long for its answer. */
const MAX_BATCH = 256;
/** Maximum units of work that wait to begin; further ones are rejected with STORAGE_BUSY. */
const MAX_QUEUE = 10_000;

/** Runs transactions in batches: units of work that arrive during a commit share the next one, and so one sync of the disk. */
export interface CommitBatching {
  readonly healthy: boolean;
  readonly metrics: Pick<DatabaseMetrics, 'commits' | 'unitsOfWork' | 'waiting' | 'connections' | 'idleConnections'>;
  /** Runs a unit of work; without a time limit if `attempt` is absent. @throws AttemptEnded if a short attempt ended before its unit of work. */
  submit<T>(work: (tx: Transaction) => Promise<T>, attempt?: BatchAttempt): Promise<T>;
  /** Tests with a write that changes nothing whether the database can commit, and sets `healthy` to the result. Never throws. */
  probe(): Promise<void>;
  /** Commits the queued units of work, and refuses later ones. */
  drain(): Promise<void>;
}

interface QueuedWork {
  readonly work: (tx: Transaction) => Promise<unknown>;
  readonly attempt: BatchAttempt;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly answer: unknown } | { readonly error: unknown };

/** The metrics that only a database server has; 0 for a file. */
const NO_SERVER = { connections: 0, idleConnections: 0 };

/** Options of commit batching. */
export interface CommitBatchingOptions {
  /** Milliseconds after which a batch starts no further unit of work, so that a slow one delays only the batch it is in. */
  readonly maxBatchTime: number;
  /** Milliseconds in which a batch waits at most for further units of work before it begins. */
  readonly batchWindow: number;
  /** Maximum milliseconds to wait for the write lock. */
  readonly lockTimeout: number;
  readonly files: OpenFiles;
  /** The time zone of the chain writers. */
  readonly timeZone?: string | undefined;
  readonly observer?: CommitObserver | undefined;
}

/** Creates the commit batching of one connection. */
export function createCommitBatching(connection: Connection, options: CommitBatchingOptions): CommitBatching {
  const queue: QueuedWork[] = [];
  const deps = createBatchDeps(connection, options);
  const counters = createCounters(options.observer);
  let running: Promise<void> | undefined;
  let closed = false;
  // Every commit sets `healthy`, a failed one too, so the error is not needed.
  const probe = (): Promise<void> => submit(probeCommit).catch(() => undefined);
  const health = createHealth(probe);

  async function run(): Promise<void> {
    while (queue.length > 0) {
      await waitForBatch(queue, options.batchWindow);
      const committed = await commitBatch(deps, queue);
      const { state, batch, outcomes } = committed;
      counters.add(committed);
      if (state !== 'nothingWritten') health.set(state === 'written');
      settle(batch, outcomes);
    }
    running = undefined;
  }

  function submit<T>(work: (tx: Transaction) => Promise<T>, attempt = withoutLimit()): Promise<T> {
    if (closed) return Promise.reject(new Problem('STORAGE_UNAVAILABLE', 'the database is closed'));
    if (queue.length >= MAX_QUEUE) return Promise.reject(new Problem('STORAGE_BUSY', `${MAX_QUEUE} transactions are waiting already`));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    queue.push({ work, attempt, resolve: resolve as QueuedWork['resolve'], reject });
    running ??= run();
    return promise;
  }

  return {
    get healthy() {
      return health.isHealthy;
    },
    get metrics() {
      return { ...NO_SERVER, ...counters.values, waiting: queue.length };
    },
    submit,
    probe,
    async drain() {
      closed = true;
      health.stop();
      await running;
    },
  };
}

/**
 * Waits as long as each turn of the event loop brings further units of work, at most for the batch window. A commit syncs for about as long
 * as fifty units of work run. Without the wait, clients answered by one commit would send their next requests together, too late for the
 * next commit. Turns are counted instead of a timer: if a turn takes longer than the window, the batch begins after it.
 */
async function waitForBatch(queue: readonly QueuedWork[], batchWindow: number): Promise<void> {
  const end = performance.now() + batchWindow;
  for (let before = 0; before < queue.length && before < MAX_BATCH && performance.now() < end; ) {
    before = queue.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function createCounters(observer: CommitObserver | undefined) {
  const values = { commits: 0, unitsOfWork: 0 };
  return {
    values,
    add({ state, ms, outcomes }: CommittedBatch): void {
      if (state !== 'written') return;
      values.commits += 1;
      values.unitsOfWork += outcomes.length;
      observer?.committed({ ms, unitsOfWork: outcomes.length });
    },
  };
}

/**
 * `written`: committed with a write. `nothingWritten`: committed, but this does not prove that the disk accepts writes. `failed`: the commit or
 * a statement failed because of the storage.
 */
type BatchState = 'written' | 'nothingWritten' | 'failed';

/** The outcome of a batch. */
interface CommittedBatch {
  readonly state: BatchState;
  /** The units of work that were run, and their outcomes. */
  readonly batch: readonly QueuedWork[];
  readonly outcomes: readonly Outcome[];
  /** Milliseconds for COMMIT and the rows appended just before it. */
  readonly ms: number;
}

interface BatchDeps {
  readonly connection: Connection;
  readonly lock: WriteLock;
  readonly maxBatchTime: number;
  readonly files: OpenFiles;
  readonly writers: ChainWriters;
  /** Returns true if a backup was restored since the last call. */
  readonly isRestored: () => boolean;
  readonly deadline: TurnDeadline;
}

function createBatchDeps(connection: Connection, { lockTimeout, maxBatchTime, files, timeZone }: CommitBatchingOptions): BatchDeps {
  const lock = { connection, timeout: lockTimeout };
  const [writers, isRestored, deadline] = [createChainWriters(timeZone), createRestoreDetector(connection), createTurnDeadline()];
  return { connection, lock, maxBatchTime, files, writers, isRestored, deadline };
}

/**
 * Runs the queued units of work, or as many as there is time for, and commits them. Takes them from the queue once it holds the write lock, so
 * that those that arrive while another process holds it share the commit. No promise is settled before the commit.
 */
async function commitBatch(deps: BatchDeps, queue: QueuedWork[]): Promise<CommittedBatch> {
  const { connection, lock, maxBatchTime, files, writers, isRestored, deadline } = deps;
  const writes = connection.writes;
  let batch: QueuedWork[] = [];
  const outcomes: Outcome[] = [];
  const appends: PendingAppend[] = [];
  let lease: WriterLease | undefined;
  let end: TransactionEnd = 'undone';
  let ms = 0;
  try {
    assertOpenFiles(files);
    await beginLocked(lock);
    if (isRestored()) writers.discard();
    lease = writers.lease();
    batch = queue.splice(0, MAX_BATCH);
    const stop = performance.now() + maxBatchTime;
    for (const queued of batch) {
      outcomes.push(await attempt(deps, queued, appends));
      if (performance.now() > stop) break;
    }
    const start = performance.now();
    if (appends.length > 0) await append(connection, lease, appends);
    const references = connection.references.toStatement();
    if (references !== undefined) connection.run(references);
    // If COMMIT itself fails, the rows may be on the disk or not.
    end = 'unknown';
    connection.exec('COMMIT');
    ms = performance.now() - start;
    assertOpenFiles(files);
    lease.end('committed');
  } catch (error) {
    lease?.noteError(error);
    lease?.end(end);
    rollBack(connection);
    const refusal = error instanceof Problem && error.status === 503 ? error : unavailable(error);
    const refused = batch.length === 0 ? queue.splice(0, MAX_BATCH) : batch;
    return { state: 'failed', batch: refused, outcomes: refused.map(() => ({ error: refusal })), ms };
  } finally {
    deadline.clear();
  }
  const stateOfWrites = connection.writes > writes ? 'written' : 'nothingWritten';
  queue.unshift(...batch.splice(outcomes.length));
  // If the storage failed one unit of work, the batch does not count as a commit, even though others in it were committed.
  return { state: outcomes.some(isStorageFailure) ? 'failed' : stateOfWrites, batch, outcomes, ms };
}

/** Writes the rows that the units of work append. */
async function append(connection: Connection, lease: WriterLease, appends: readonly PendingAppend[]): Promise<void> {
  const handle = openTransaction(connection, withoutLimit());
  const statements = toAppendStatements({ tx: handle.tx, writer: lease.writer() }, appends);
  for (const statement of statements instanceof Promise ? await statements : statements) connection.run(statement);
  handle.end();
}

/** The savepoint around each unit of work. */
const WORK = 'work';

/**
 * Runs one unit of work, and adds its rows to `appends`. If it fails, its writes are rolled back and the batch goes on. Throws if the whole
 * transaction is lost.
 */
async function attempt({ connection, deadline }: BatchDeps, queued: QueuedWork, appends: PendingAppend[]): Promise<Outcome> {
  const { writes } = connection;
  connection.savepoints.open(WORK);
  const handle = openTransaction(connection, queued.attempt);
  let outcome: Outcome;
  try {
    const answer = await deadline.within(queued.work(handle.tx));
    const added = handle.end();
    outcome = { answer };
    if (handle.ended() === undefined) for (const pending of added) appends.push(pending);
  } catch (error) {
    outcome = { error };
    endQuietly(handle);
  }
  const ended = handle.ended();
  if (ended !== undefined) outcome = { error: ended };
  if (!connection.inTransaction) throw unavailable('error' in outcome ? outcome.error : new Error('the transaction ended early'));
  if ('error' in outcome) {
    connection.savepoints.undo(WORK);
    connection.writes = writes;
  }
  connection.savepoints.release(WORK);
  return outcome;
}

/** Ends the handle of a failed unit of work. Savepoints that it left open are rolled back with it, so their error is dropped. */
function endQuietly(handle: OpenTransaction): void {
  try {
    handle.end();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

/** Rolls back. If the rollback fails, the next BEGIN fails too, so no request succeeds until a rollback does. */
function rollBack(connection: Connection): void {
  try {
    if (connection.inTransaction) connection.exec('ROLLBACK');
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

function settle(batch: readonly QueuedWork[], outcomes: readonly Outcome[]): void {
  for (const [index, outcome] of outcomes.entries()) {
    const { resolve, reject } = batch[index] as QueuedWork;
    if ('error' in outcome) reject(outcome.error);
    else resolve(outcome.answer);
  }
}

function isStorageFailure(outcome: Outcome): boolean {
  return 'error' in outcome && outcome.error instanceof Problem && outcome.error.code === 'STORAGE_UNAVAILABLE';
}

/** Writes a page of the database file without changing its content. */
async function probeCommit(tx: Transaction): Promise<void> {
  const row = await tx.one<{ user_version: number }>({ sql: 'PRAGMA user_version', parameters: [] });
  await tx.run({ sql: `PRAGMA user_version = ${Number(row?.user_version ?? 0)}`, parameters: [] });
}
