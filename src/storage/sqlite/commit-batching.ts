import { Problem } from '../../errors.ts';
import { createWriters, type Ended, type Loan, type Writers } from '../chain-writers.ts';
import { type Appended, type CommitWatch, type DatabaseFigures, statementsOf, type Transaction } from '../contract.ts';
import { internal } from '../savepoints.ts';
import { createHealth } from '../storage-health.ts';
import type { Connection } from './connection.ts';
import { unavailable } from './driver-error.ts';
import { createReplacementWatch, type OpenFiles, refuseLost } from './open-files.ts';
import { openTransaction } from './transaction.ts';

/** Works that share a commit at most: more would make the first of them wait long for its answer. */
const GROUP = 256;
/** Works that may wait. */
const QUEUE = 10_000;

/** Transactions in groups: one commit, and so one sync of the disk, for whatever queued while the one before was in flight. */
export interface CommitBatching {
  readonly healthy: boolean;
  readonly figures: DatabaseFigures;
  submit<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Has a commit written, by which `healthy` is known. Never throws. */
  prove(): Promise<void>;
  /** Commits what is queued; what comes later is refused. */
  drain(): Promise<void>;
}

interface Queued {
  readonly work: (tx: Transaction) => Promise<unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly answer: unknown } | { readonly error: unknown };

/** What there is nothing of where one connection writes to one file. */
const NO_SERVER = { guardRetries: 0, connections: 0, idleConnections: 0 };

/** How groups are made. */
export interface CommitBatchingOptions {
  /** Milliseconds after which a group takes no further work: behind a slow one, the others would all wait for one another. */
  readonly groupTime: number;
  /** Milliseconds in which others are waited for, before a group is begun. */
  readonly gatherTime: number;
  readonly files: OpenFiles;
  readonly watch?: CommitWatch | undefined;
}

/** Groups the transactions of one connection. */
export function createCommitBatching(connection: Connection, options: CommitBatchingOptions): CommitBatching {
  const { groupTime, gatherTime, files, watch } = options;
  const queue: Queued[] = [];
  const parts = { connection, groupTime, files, writers: createWriters(), isReplaced: createReplacementWatch(connection) };
  const count = createCount(watch);
  let running: Promise<void> | undefined;
  let closed = false;
  // What it came to is known by `healthy`, which every commit sets.
  const prove = (): Promise<void> => submit(probe).catch(() => undefined);
  const health = createHealth(prove);

  async function run(): Promise<void> {
    while (queue.length > 0) {
      await gather(queue, gatherTime);
      const group = queue.splice(0, GROUP);
      const committed = await commitGroup(parts, group);
      const { settle, state, ran } = committed;
      queue.unshift(...group.slice(ran));
      count.add(committed);
      if (state !== 'unproven') health.set(state === 'written');
      settle();
    }
    running = undefined;
  }

  function submit<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (closed) return Promise.reject(new Problem('STORAGE_UNAVAILABLE', 'the database is closed'));
    if (queue.length >= QUEUE) return Promise.reject(new Problem('STORAGE_BUSY', `${QUEUE} transactions are waiting already`));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    queue.push({ work, resolve: resolve as Queued['resolve'], reject });
    running ??= run();
    return promise;
  }

  return {
    get healthy() {
      return health.isGood;
    },
    get figures() {
      return { ...NO_SERVER, ...count.done, waiting: queue.length };
    },
    submit,
    prove,
    async drain() {
      closed = true;
      health.stop();
      await running;
    },
  };
}

/**
 * No timer: a commit syncs for about as long as it takes to run fifty works, so others are waited for while each turn of the event loop
 * brings more of them. Else those that are answered by one commit would ask again together, too late for the next. Turns may be long,
 * where something else is done in them: then nobody waits for more than one.
 */
async function gather(queue: readonly Queued[], gatherTime: number): Promise<void> {
  const end = performance.now() + gatherTime;
  for (let before = 0; before < queue.length && before < GROUP && performance.now() < end; ) {
    before = queue.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function createCount(watch: CommitWatch | undefined) {
  const done = { commits: 0, works: 0 };
  return {
    done,
    add({ state, ms, ran }: Committed): void {
      if (state !== 'written') return;
      done.commits += 1;
      done.works += ran;
      watch?.committed({ ms, works: ran });
    },
  };
}

/** `written`: committed, and something was written. `unproven`: committed, yet nothing touched the disk. */
type GroupState = 'written' | 'unproven' | 'failed';

/** What became of a group: how many of its works were run, and how to tell them. */
interface Committed {
  readonly state: GroupState;
  readonly ran: number;
  /** What its COMMIT took, and what was appended just before, in milliseconds. */
  readonly ms: number;
  settle(): void;
}

/** What groups are committed with. */
interface GroupParts {
  readonly connection: Connection;
  readonly groupTime: number;
  readonly files: OpenFiles;
  readonly writers: Writers;
  /** Whether the database is another since last asked. */
  readonly isReplaced: () => boolean;
}

/** Runs a group, or as much of it as there is time for, and commits it. Nobody gets an answer before `settle`, which is after the commit. */
async function commitGroup(parts: GroupParts, group: readonly Queued[]): Promise<Committed> {
  const { connection, groupTime, files, writers, isReplaced } = parts;
  const writes = connection.writes;
  const outcomes: Outcome[] = [];
  const appended: Appended[] = [];
  const turn = createTurn();
  let loan: Loan | undefined;
  // What has been written where a commit fails is for the disk to say, not for us.
  let failed: Ended = 'undone';
  let ms = 0;
  try {
    refuseLost(files);
    connection.begin();
    if (isReplaced()) writers.giveUp();
    loan = writers.lend();
    const end = performance.now() + groupTime;
    for (const { work } of group) {
      outcomes.push(await attempt({ connection, appended, turn }, work));
      if (performance.now() > end) break;
    }
    const from = performance.now();
    if (appended.length > 0) await append(connection, loan, appended);
    failed = 'unknown';
    connection.exec('COMMIT');
    ms = performance.now() - from;
    refuseLost(files);
    loan.end('committed');
  } catch (error) {
    loan?.failed(error);
    loan?.end(failed);
    rollback(connection);
    const refusal = error instanceof Problem && error.status === 503 ? error : unavailable(error);
    return { state: 'failed', ran: group.length, ms, settle: () => settle(group, () => ({ error: refusal })) };
  } finally {
    turn.end();
  }
  const stateOfWrites = connection.writes > writes ? 'written' : 'unproven';
  const state = outcomes.some(isStorageFailure) ? 'failed' : stateOfWrites;
  const ran = outcomes.length;
  return { state, ran, ms, settle: () => settle(group.slice(0, ran), (index) => outcomes[index] as Outcome) };
}

/** Writes what works leave to be appended. */
async function append(connection: Connection, { writer }: Loan, appended: readonly Appended[]): Promise<void> {
  const { tx, end } = openTransaction(connection);
  for (const statement of await statementsOf({ tx, writer }, appended)) connection.run(statement);
  end();
}

/** What the works of a group share. */
interface Attempting {
  readonly connection: Connection;
  /** What they leave to be appended. */
  readonly appended: Appended[];
  readonly turn: Turn;
}

/** The savepoint around each work. */
const WORK = 'work';

/**
 * Runs one work; where it fails, what it wrote is undone and the others go on. What it leaves to be appended joins what others left.
 * Throws where the whole transaction is lost.
 */
async function attempt({ connection, appended, turn }: Attempting, work: Queued['work']): Promise<Outcome> {
  connection.marks.open(WORK);
  const { tx, end } = openTransaction(connection);
  let outcome: Outcome;
  try {
    const answer = await turn.within(() => work(tx));
    for (const left of end()) appended.push(left);
    outcome = { answer };
  } catch (error) {
    outcome = { error };
    endQuietly(end);
  }
  if (!connection.inTransaction) throw unavailable('error' in outcome ? outcome.error : new Error('the transaction ended early'));
  if ('error' in outcome) connection.marks.undo(WORK);
  connection.marks.release(WORK);
  return outcome;
}

/** One turn of the event loop, in which all works of a group are run. */
interface Turn {
  /** Throws where the work is not done in it. */
  within<T>(work: () => Promise<T>): Promise<T>;
  end(): void;
}

/**
 * Everything a transaction answers is there at once, so work that awaits nothing else is done before the event loop
 * turns. Work that is not would hold the lock, and everyone behind it, for as long as whatever it awaits takes.
 */
function createTurn(): Turn {
  let late: PromiseWithResolvers<never> | undefined;
  let watch: NodeJS.Immediate | undefined;

  function begin(): PromiseWithResolvers<never> {
    const over = Promise.withResolvers<never>();
    watch = setImmediate(() => {
      late = undefined;
      over.reject(internal('a transaction awaited something else than itself'));
    });
    return over;
  }

  return {
    within(work) {
      late ??= begin();
      return Promise.race([work(), late.promise]);
    },
    end: () => clearImmediate(watch),
  };
}

/** The work has failed already, and of that its caller is told; savepoints that it left open are undone with it. */
function endQuietly(end: () => unknown): void {
  try {
    end();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

/** Where even this fails, the next BEGIN does too, and so on until a rollback works: nothing is lost, nothing is answered. */
function rollback(connection: Connection): void {
  try {
    if (connection.inTransaction) connection.exec('ROLLBACK');
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

function settle(group: readonly Queued[], outcomeOf: (index: number) => Outcome): void {
  for (const [index, { resolve, reject }] of group.entries()) {
    const outcome = outcomeOf(index);
    if ('error' in outcome) reject(outcome.error);
    else resolve(outcome.answer);
  }
}

function isStorageFailure(outcome: Outcome): boolean {
  return 'error' in outcome && outcome.error instanceof Problem && outcome.error.code === 'STORAGE_UNAVAILABLE';
}

/** Writes a page and changes nothing. */
async function probe(tx: Transaction): Promise<void> {
  const row = await tx.one<{ user_version: number }>({ sql: 'PRAGMA user_version', parameters: [] });
  await tx.run({ sql: `PRAGMA user_version = ${Number(row?.user_version ?? 0)}`, parameters: [] });
}
