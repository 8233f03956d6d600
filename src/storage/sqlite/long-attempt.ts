import { sql } from '../../sql.ts';
import { AttemptEnded, type AttemptState, createStopwatch, type TimedAttempt, TimeLimit } from '../attempt.ts';
import { CollectedAppends } from '../collected-appends.ts';
import { createStatements, oneOfEach, type PendingAppend, type Query, type Transaction } from '../contract.ts';
import type { ReadSet } from '../read-set.ts';
import { createReadWriteSet, type ReadWriteSet } from '../read-write-set.ts';
import { internal, type PendingSavepoints } from '../savepoints.ts';
import { SLICE, type Turns } from '../turns.ts';
import { fromDriver, StatementTimeout } from './driver-error.ts';
import type { Reader } from './reader.ts';
import { loadReferenceState, loadWriteState } from './reference-log.ts';
import { sqliteDialect } from './sql-dialect.ts';

/** The transaction handle of a long attempt. */
export interface LongTransaction {
  readonly tx: Transaction;
  /** Returns the reason why the attempt has ended before its unit of work; undefined if it has not. The unit of work may have caught it. */
  ended(): AttemptEnded | undefined;
  /** Makes the handle throw from now on. Returns what is left to do on the writer: rows to append, and the read set to validate. */
  end(): LongResult;
}

/** The part of a long attempt that is done on the writer. */
export interface LongResult {
  readonly appends: readonly PendingAppend[];
  readonly sets: ReadWriteSet;
}

/** The components of a long attempt. */
export interface LongAttempt {
  readonly reader: Reader;
  readonly turns: Turns;
  readonly state: AttemptState;
}

/** Matches the statements that a reader can run. Any other statement needs the writer. */
const READS = /^\s*SELECT\b/i;

/** A snapshot needs no row locks, and has none: the attempt that writes locks the rows. */
const NO_LOCK = sql``;

const toStatement = createStatements(sqliteDialect.placeholder);

/** Creates the handle with which one unit of work reads in the snapshot of a reader. */
export function openLongTransaction(attempt: LongAttempt): LongTransaction {
  const lifetime = createLifetime();
  const { timed, query } = createTimedQueries(attempt, lifetime);
  const { end, ...bookkeeping } = createBookkeeping(lifetime);
  const needsWriter = (): never => {
    throw lifetime.endWith(new AttemptEnded('writer'));
  };
  // The caller declares the type of the rows.
  const one = (async (text) => (await query(text))[0]) as Transaction['one'];
  const tx: Transaction = Object.freeze({
    dialect: sqliteDialect,
    now: Date.now(),
    slot: () => 0,
    validatesReads: true,
    canBeOptimistic: false,
    hasChangedUsers: false,
    watched: () => undefined,
    all: query as Transaction['all'],
    one,
    oneOfEach: (queries: readonly (Query | undefined)[]) => oneOfEach({ one }, queries),
    run: async () => needsWriter(),
    updateRow: async () => needsWriter(),
    insertRow: async () => needsWriter(),
    lock: async () => needsWriter(),
    rowLock: ((_lock, options) => (options?.beforeSearch ? NO_LOCK : needsWriter())) as Transaction['rowLock'],
    addToWriteSet: needsWriter,
    ...bookkeeping,
    ...timed,
  });
  return {
    tx,
    ended: lifetime.ended,
    end,
  };
}

interface Lifetime {
  isOver(): boolean;
  ended(): AttemptEnded | undefined;
  /** Throws if the attempt has ended. */
  check(): void;
  /** Ends the attempt before its unit of work, and returns the error to throw. */
  endWith(reason: AttemptEnded): AttemptEnded;
  /** Ends the attempt with its unit of work. */
  end(): void;
}

function createLifetime(): Lifetime {
  let ended: AttemptEnded | undefined;
  let isOver = false;
  return {
    isOver: () => isOver,
    ended: () => ended,
    check() {
      if (isOver) throw internal('a transaction was used after its end');
      if (ended !== undefined) throw ended;
    },
    endWith(reason) {
      ended ??= reason;
      return ended;
    },
    end() {
      isOver = true;
    },
  };
}

/** Creates the functions that read rows, and the time limit that counts them. */
function createTimedQueries({ reader, turns, state }: LongAttempt, lifetime: Lifetime) {
  const stopwatch = createStopwatch(() => state.limit);
  stopwatch.begin();

  async function query(text: Query): Promise<readonly Record<string, unknown>[]> {
    lifetime.check();
    const statement = toStatement(text);
    if (!READS.test(statement.sql)) throw lifetime.endWith(new AttemptEnded('writer'));
    stopwatch.addLap();
    try {
      const { rows, milliseconds } = await reader.query(statement, stopwatch.remaining);
      stopwatch.add(milliseconds);
      return rows;
    } catch (error) {
      stopwatch.begin();
      if (error instanceof AttemptEnded) throw lifetime.endWith(error);
      throw error instanceof StatementTimeout ? new TimeLimit(state.limit) : fromDriver(error);
    }
  }

  const timed: TimedAttempt = {
    attempt: 'long',
    staleAttempts: state.stale ?? 0,
    retained: state.retained,
    // The attempt stores nothing, and its snapshot does not change.
    noteReferences: () => undefined,
    noteWritten: () => undefined,
    loadWriteState: (resources) => loadWriteState({ all: query as Transaction['all'] }, resources),
    loadReferenceState: (table, ids) => loadReferenceState({ all: query as Transaction['all'] }, table, ids),
    requireNoNewReferences: async () => undefined,
    withoutTimeLimit: (work) => stopwatch.pauseDuring(work),
    beginInMemory: () => undefined,
    remaining: () => stopwatch.remaining,
    limitTime(lower) {
      state.limit = Math.min(state.limit, lower);
    },
    async checkTime() {
      lifetime.check();
      const isSliceOver = stopwatch.slice > SLICE;
      if (isSliceOver) stopwatch.addLap();
      if (stopwatch.remaining - stopwatch.lap <= 0) throw new TimeLimit(state.limit);
      if (!isSliceOver) return;
      await turns.take(() => undefined);
      stopwatch.begin();
    },
  };
  return { timed, query };
}

/** Creates the members that collect appended rows and the read set. */
function createBookkeeping(lifetime: Lifetime) {
  const sets = createReadWriteSet();
  const appends = new CollectedAppends({
    isOver: lifetime.isOver,
    check: lifetime.check,
    savepoints: NO_SAVEPOINTS,
  });
  return {
    append: ((statements, rows) => appends.append(statements, rows)) as Transaction['append'],
    savepoint: ((work) => appends.savepoint(work)) as Transaction['savepoint'],
    addToReadSet(readSet: ReadSet): void {
      lifetime.check();
      if (!sets.addToReadSet(readSet)) throw lifetime.endWith(new AttemptEnded('stale'));
    },
    end(): LongResult {
      lifetime.end();
      return { appends: appends.end(), sets: sets.build() };
    },
  };
}

/** Sends no savepoints, because nothing is written in them. */
const NO_SAVEPOINTS: PendingSavepoints = { open: () => undefined, undo: () => undefined, release: () => undefined };
