import { Problem } from '../../errors.ts';
import { createWriters } from '../chain-writers.ts';
import type { CommitFigures, CommitWatch, DatabaseFigures, Tell, Transaction, TransactionOptions } from '../contract.ts';
import { type CommitGroup, createEntryBatching, type EntryBatching } from './commit-batching.ts';
import type { Connection } from './connection.ts';
import type { PostgresAddress, ServerOptions } from './connection-string.ts';
import { busy } from './driver-error.ts';
import { type CommitOutcome, type InDoubtCommit, loadCommitOutcome } from './in-doubt-commit.ts';
import { createConnectionSlots, createPool, toBeginnings } from './pool.ts';
import { createClock, createClockDifference } from './server-clock.ts';
import { attempt, type TransactionOutcome } from './transaction.ts';

/** How works are run. */
export interface RunnerOptions extends ServerOptions {
  /** Connections at most for works to be run on; a few more append what they leave. */
  readonly connections?: number;
  /** Milliseconds to find out what became of a commit whose connection was lost. */
  readonly doubtTimeout?: number;
  /** Told of each commit. */
  readonly watch?: CommitWatch | undefined;
  readonly tell?: Tell | undefined;
}

/** What a work came to. */
export interface Ran<T> {
  readonly answer: T;
  /** Whether it asked for anything to be written: then the commit proves that it can be. */
  readonly wrote: boolean;
}

/** Runs works on connections of a pool. */
export interface Runner {
  readonly figures: DatabaseFigures;
  /** See `Database`. */
  readonly fault: string | undefined;
  run<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions): Promise<Ran<T>>;
  close(): Promise<void>;
}

/** Works that may wait for a connection. */
const QUEUE = 10_000;
/** Times a work is run where others, or a change of tables, stood in its way. */
const ATTEMPTS = 5;
/** Times a work is run where what it rests on has changed meanwhile: each time it has been told the newest. */
const STALE_ATTEMPTS = 10;
/** Times after which it lets nobody change anything while it is run: then it comes to an end, and others wait. */
const PATIENCE = 4;
/** Groups of works whose rows are on their way at once, each on a connection of its own. */
const FLIGHTS = 2;
/** Milliseconds between one question what became of a commit and the next. */
const DOUBT_PAUSE = 50;

/** Makes a runner; it connects when it is first asked. */
export function createRunner(address: PostgresAddress, options: RunnerOptions): Runner {
  const lines = createLines(address, options);
  const recorder = createEntryBatching(lines.tryGroup, { flights: FLIGHTS, committed });
  const settle = createSettling(lines, recorder, options.doubtTimeout);
  let [commits, works, guardRetries] = [0, 0, 0];

  function committed(commit: CommitFigures): void {
    commits++;
    options.watch?.committed(commit);
  }

  async function run<T>(work: Work<T>, { patient = false }: TransactionOptions): Promise<Ran<T>> {
    if (lines.figures.waiting + recorder.waiting >= QUEUE) throw new Problem('STORAGE_BUSY', `${QUEUE} transactions are waiting already`);
    let locks: readonly string[] = [];
    for (let [others, stale] = [0, 0]; ; ) {
      const outcome = await lines.tryOnce(work, { patient, stale, locks });
      if ('answer' in outcome && outcome.left === undefined && outcome.wrote) committed({ ms: outcome.ms, works: 1 });
      const ran = await settle(outcome);
      if ('answer' in ran) {
        if (ran.wrote) works++;
        return ran;
      }
      if (ran.passing === 'stale') [stale, guardRetries] = [stale + 1, guardRetries + 1];
      else others++;
      // Of many who wait for one name, each would find that those before it have changed what it rests on: now it waits first, and then looks.
      if ('locks' in outcome && ran.passing === 'stale') locks = outcome.locks ?? [];
      if (ran.passing === undefined || others === ATTEMPTS || stale === STALE_ATTEMPTS) throw ran.error;
      // Two that stood in each other's way would do so again, were they to begin at the same time.
      if (ran.passing === 'conflict') await pause(Math.random() * 10 * others);
    }
  }

  return {
    get figures() {
      const { waiting, ...figures } = lines.figures;
      return { commits, works, waiting: waiting + recorder.waiting, guardRetries, ...figures };
    },
    get fault() {
      return lines.fault;
    },
    run,
    close: lines.close,
  };
}

type Work<T> = (tx: Transaction) => Promise<T>;

interface Manner {
  readonly patient: boolean;
  /** Times that what it rests on had changed. */
  readonly stale: number;
  readonly locks: readonly string[];
}

/** Connections of two kinds, and how works are tried on them. */
interface Lines {
  readonly fault: string | undefined;
  readonly figures: Pick<DatabaseFigures, 'waiting' | 'connections' | 'idleConnections'>;
  tryOnce<T>(work: Work<T>, manner: Manner): Promise<TransactionOutcome<T>>;
  readonly tryGroup: CommitGroup;
  close(): Promise<void>;
}

/** Those who append have connections of their own: they do not wait behind works that have yet to begin. */
function createLines(address: PostgresAddress, options: RunnerOptions): Lines {
  const writers = createWriters();
  // Whatever is behind the next connection may be another server, which never saw what this one did.
  const lost = (): void => writers.giveUp();
  const places = createConnectionSlots();
  const pool = createPool(address, options.connections ?? 10, { ...options, lost, places });
  const recording = createPool(address, FLIGHTS, { ...options, lost, places });
  const beginnings = toBeginnings(address, options);
  const difference = createClockDifference(options.tell ?? (() => undefined));
  const clock = createClock(difference);
  const beginOf = (connection: Connection): string => (connection.isSet ? beginnings.own : beginnings.shared);
  // Where a BEGIN fails, settings of our own keep what was sent behind it from being done by itself.
  const isKnown = (connection: Connection): boolean => connection.isSet && clock.isFresh;

  return {
    get fault() {
      return difference.fault;
    },
    get figures() {
      return { waiting: pool.waiting, connections: pool.total + recording.total, idleConnections: pool.idle + recording.idle };
    },
    tryOnce: (work, { patient, stale, locks }) =>
      pool.lend(
        (connection) => {
          // Whoever is run again is told by the server what time it is: that may be all that has changed.
          const start = isKnown(connection) && !patient && stale === 0 ? 'late' : 'first';
          const begin = patient ? beginnings.patient : beginOf(connection);
          return attempt(connection, { begin, clock, writers, start, locks, holdsAll: stale >= PATIENCE }, work);
        },
        { patient },
      ),
    tryGroup: (others, work) =>
      recording.lend((connection) => {
        const start = isKnown(connection) ? 'ahead' : 'first';
        return attempt(connection, { begin: beginOf(connection), clock, writers, start, others }, work);
      }),
    async close() {
      await Promise.all([pool.close(), recording.close()]);
    },
  };
}

/** What one attempt came to: an answer that may be given, or why there is none. */
type Settled<T> = Ran<T> | Pick<Extract<TransactionOutcome<never>, { error: unknown }>, 'error' | 'passing'>;

/** Settles attempts: has what they leave appended, and finds out what nobody knows. */
function createSettling(
  lines: Lines,
  recorder: EntryBatching,
  doubtTimeout = 10_000,
): <T>(outcome: TransactionOutcome<T>) => Promise<Settled<T>> {
  async function findFate(doubt: InDoubtCommit): Promise<CommitOutcome> {
    for (const end = performance.now() + doubtTimeout; performance.now() < end; ) {
      // Of a server that cannot be asked yet, no more is known than before.
      const outcome = await lines
        .tryOnce((tx) => loadCommitOutcome(tx, doubt), { patient: false, stale: 0, locks: [] })
        .catch(() => undefined);
      if (outcome !== undefined && 'answer' in outcome && outcome.answer !== 'open') return outcome.answer;
      await pause(DOUBT_PAUSE);
    }
    return 'unknown';
  }

  return async (outcome) => {
    if ('answer' in outcome) {
      if (outcome.left === undefined) return outcome;
      if (await recorder.record(outcome.left)) return { answer: outcome.answer, wrote: true };
      return { error: busy(new Error('what the work rests on has changed')), passing: 'stale' };
    }
    if (outcome.doubt === undefined) return outcome;
    const fate = await findFate(outcome.doubt.about);
    if (fate === 'committed') return { answer: outcome.doubt.answer, wrote: true };
    return fate === 'undone' ? { error: outcome.error, passing: 'conflict' } : { error: unknown(outcome.error), passing: undefined };
  };
}

function unknown(cause: unknown): Problem {
  return new Problem('STORAGE_UNAVAILABLE', 'the connection to the database was lost while it committed', {
    cause,
    hint: 'it may have been done: look before you try again',
  });
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
