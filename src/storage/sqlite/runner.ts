import { LRUCache } from 'lru-cache';
import { Problem } from '../../errors.ts';
import { AttemptEnded, type AttemptState, type BatchLimits, TimeLimit } from '../attempt.ts';
import type { DatabaseMetrics, Transaction, TransactionOptions } from '../contract.ts';
import { createLostTime, type LostTime } from '../lost-time.ts';
import type { ReadWriteSet } from '../read-write-set.ts';
import type { Turns } from '../turns.ts';
import type { BatchAttempt } from './batch-attempt.ts';
import type { CommitBatching } from './commit-batching.ts';
import { isCurrent } from './commit-validation.ts';
import { type LongAttempt, type LongResult, type LongTransaction, openLongTransaction } from './long-attempt.ts';
import type { ReaderPool } from './reader-pool.ts';

/** Runs units of work in as many attempts as they need. */
export interface Runner {
  readonly metrics: Pick<DatabaseMetrics, 'validationRetries' | 'longAttempts' | 'longWaiting' | 'longRefused'>;
  run<T>(work: Work<T>, options?: TransactionOptions): Promise<T>;
}

type Work<T> = (tx: Transaction) => Promise<T>;

/** The state of a unit of work whose short attempt has ended, and its next attempt. */
interface LaterAttempts {
  readonly state: AttemptState;
  readonly caller: string;
  next: AttemptEnded['next'];
}

const NO_OPTIONS: TransactionOptions = {};

/** The components of a runner. */
export interface RunnerDeps {
  readonly batching: CommitBatching;
  readonly readers: ReaderPool;
  readonly turns: Turns;
  readonly limits: BatchLimits;
}

/** The time limit of a long attempt without one of its own, for example of a verification of the audit log. */
const LONG_LIMIT = 30_000;
/** Maximum long attempts with a stale read set; each reads a newer snapshot. */
const STALE_ATTEMPTS = 10;
/** The validation of the nth long attempt has n times the time of a writer, and at most this multiple. */
const MAX_VALIDATION = 4;
/** Maximum long attempts whose reader is lost. */
const LOST_ATTEMPTS = 2;
/** Number of short attempts whose time all callers together may lose before every caller has less time. */
const MAX_LOST = 5;

/** Milliseconds for which units of work of a caller send nested savepoints after one has needed them, and maximum number of these callers. */
const [UNDOING_MS, MAX_UNDOING] = [10_000, 1000];

/** Creates a runner. */
export function createRunner({ batching, readers, turns, limits }: RunnerDeps): Runner {
  const callers = createCallerState(limits);
  let validationRetries = 0;

  /** Without `async`, because every request calls it and most need no second attempt. */
  function run<T>(work: Work<T>, options: TransactionOptions = NO_OPTIONS): Promise<T> {
    if (options.unlimited) return batching.submit(work);
    const state: AttemptState = { retained: new Map(), limit: options.milliseconds ?? LONG_LIMIT };
    const { caller = '' } = options;
    if (options.beginsLong) return runAgain(work, { state, caller, next: 'long' });
    return batching.submit(work, new ShortAttempt(callers, { state, caller })).catch((error: unknown) => {
      if (!(error instanceof AttemptEnded)) throw error;
      return runAgain(work, { state, caller, next: error.next });
    });
  }

  /** Runs the attempts after the short one. */
  async function runAgain<T>(work: Work<T>, { state, caller, next }: LaterAttempts): Promise<T> {
    const ended = { stale: 0, lost: 0 };
    for (;;) {
      try {
        if (next === 'writer')
          return await batching.submit(work, { attempt: 'writer', sendsNested: true, begin: () => limits.writer, state });
        return await runLong(work, { caller, state });
      } catch (error) {
        if (!(error instanceof AttemptEnded)) throw error;
        next = error.next;
        if (next !== 'stale' && next !== 'lost') continue;
        ended[next]++;
        if (next === 'stale') validationRetries++;
        state.stale = ended.stale;
        requireAttempt(ended, error);
      }
    }
  }

  async function runLong<T>(work: Work<T>, { caller, state }: { readonly caller: string; readonly state: AttemptState }): Promise<T> {
    const { answer, result } = await readers.lend(caller, (reader) => attemptLong(work, openSnapshot({ reader, turns, state })));
    await commitLong(batching, result, toValidation(state, limits));
    return answer;
  }

  return {
    get metrics() {
      const { running, waiting, refused } = readers.queue;
      return { validationRetries, longAttempts: running, longWaiting: waiting, longRefused: refused };
    },
    run,
  };
}

/** The state of all callers that short attempts use. */
interface CallerState {
  readonly lostTime: LostTime;
  /** The callers whose units of work have lately needed nested savepoints. */
  readonly undoing: LRUCache<string, true>;
}

function createCallerState({ short }: BatchLimits): CallerState {
  return {
    lostTime: createLostTime({ short, shared: MAX_LOST * short }),
    undoing: new LRUCache<string, true>({ max: MAX_UNDOING, ttl: UNDOING_MS }),
  };
}

/** The short attempt of a caller. A class, because every request creates one. */
class ShortAttempt implements BatchAttempt {
  readonly attempt = 'short';
  readonly state: AttemptState;
  readonly #callers: CallerState;
  readonly #caller: string;

  constructor(callers: CallerState, { state, caller }: Pick<LaterAttempts, 'state' | 'caller'>) {
    this.state = state;
    this.#callers = callers;
    this.#caller = caller;
  }

  begin(): number {
    return this.#callers.lostTime.limitFor(this.#caller);
  }

  get sendsNested(): boolean {
    const { undoing } = this.#callers;
    return undoing.size > 0 && undoing.has(this.#caller);
  }

  needNested(): void {
    this.#callers.undoing.set(this.#caller, true);
  }

  end(milliseconds: number): void {
    this.#callers.lostTime.add(this.#caller, milliseconds);
  }
}

/** Begins a long attempt. Its first statement takes the snapshot. */
function openSnapshot(attempt: LongAttempt): LongTransaction {
  // Results of an earlier snapshot do not belong to this one.
  attempt.state.retained.clear();
  return openLongTransaction(attempt);
}

/** Runs a unit of work in the snapshot of a reader. @throws AttemptEnded even if the unit of work has caught it */
async function attemptLong<T>(work: Work<T>, handle: LongTransaction): Promise<{ answer: T; result: LongResult }> {
  try {
    const answer = await work(handle.tx);
    const result = handle.end();
    const ended = handle.ended();
    if (ended !== undefined) throw ended;
    return { answer, result };
  } catch (error) {
    throw handle.ended() ?? error;
  }
}

/**
 * Validates the read set of a long attempt and appends its rows, in one unit of work on the writer. The commit batch also verifies that the
 * database files are still in their places.
 *
 * @throws AttemptEnded if the read set is stale
 */
async function commitLong(batching: CommitBatching, { appends, sets }: LongResult, validation: BatchAttempt): Promise<void> {
  await batching.submit(async (tx) => {
    if (!(await isProvenCurrent(tx, sets))) throw new AttemptEnded('stale');
    for (const { statements, rows } of appends) tx.append(statements, rows);
  }, validation);
}

/** Returns the attempt that validates a long one. */
function toValidation(state: AttemptState, { writer }: BatchLimits): BatchAttempt {
  const milliseconds = writer * Math.min(MAX_VALIDATION, 1 + (state.stale ?? 0));
  return { attempt: 'writer', sendsNested: true, begin: () => milliseconds, state };
}

/** Returns true if a read set is current; false also if the comparison takes too long, because no other request is answered meanwhile. */
async function isProvenCurrent(tx: Transaction, sets: ReadWriteSet): Promise<boolean> {
  try {
    return await isCurrent(tx, sets);
  } catch (error) {
    if (error instanceof TimeLimit) return false;
    throw error;
  }
}

/** Throws the problem of a unit of work that must not run again. */
function requireAttempt({ stale, lost }: Readonly<Record<'stale' | 'lost', number>>, cause: AttemptEnded): void {
  if (stale === STALE_ATTEMPTS) throw tooManyChanges(cause);
  if (lost === LOST_ATTEMPTS) throw lostReader(cause);
}

function tooManyChanges(cause: unknown): Problem {
  return new Problem(
    'STORAGE_BUSY',
    'policies, users or records on which the answer depends changed each time while the request was running',
    { cause, retryAfter: 1 },
  );
}

function lostReader(cause: unknown): Problem {
  return new Problem('STORAGE_UNAVAILABLE', 'the thread that read the database ended', { cause });
}
