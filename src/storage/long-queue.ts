import { Problem } from '../errors.ts';

/** Options of a queue of long attempts. */
export interface LongQueueOptions {
  /** Maximum long attempts that run at the same time. */
  readonly concurrency: number;
  /** Maximum long attempts of one caller that run at the same time; as many as of all callers if absent. */
  readonly perCaller?: number;
  /** Maximum long attempts that wait. One caller may have half of them. */
  readonly length: number;
  /** Returns true if another long attempt may begin; always true if absent. If it returns false while none runs, it is called again later. Must not throw. */
  mayBegin?(running: number): boolean;
}

/** A queue that lets a bounded number of long attempts run. Callers take turns, so that one with many requests does not delay the others. */
export interface LongQueue {
  readonly running: number;
  readonly waiting: number;
  /** Number of long attempts that were refused. */
  readonly refused: number;
  /**
   * Runs `work` when it is the caller's turn.
   *
   * @throws Problem STORAGE_BUSY if too many long attempts wait, STORAGE_UNAVAILABLE after `close`
   */
  run<T>(caller: string, work: () => Promise<T>): Promise<T>;
  /** Refuses later long attempts. Resolves when those that run or wait have ended. */
  close(): Promise<void>;
}

/** Seconds after which a refused request may be sent again: the default time limit of a request. */
const RETRY_AFTER = 2;
/** Milliseconds between two calls of `mayBegin` while no long attempt runs. */
const RETRY_INTERVAL = 20;

/** Creates a queue of long attempts. */
export function createLongQueue({ concurrency, perCaller = concurrency, length, mayBegin = () => true }: LongQueueOptions): LongQueue {
  const callers = createTurnsOfCallers(perCaller);
  const state = { running: 0, refused: 0, closed: false };
  const ended = Promise.withResolvers<void>();
  const retry = createRetry(beginNext);

  function beginNext(): void {
    beginWaiting(callers, state, { concurrency, mayBegin });
    if (state.running > 0) return;
    // The end of a long attempt would begin the next one, but none runs.
    if (callers.waiting > 0) retry();
    else if (state.closed) ended.resolve();
  }

  function wait(caller: string): Promise<void> {
    if (isFull(callers, caller, length)) throw refuse(state);
    const turn = Promise.withResolvers<void>();
    callers.add(caller, turn.resolve);
    beginNext();
    return turn.promise;
  }

  return {
    get running() {
      return state.running;
    },
    get waiting() {
      return callers.waiting;
    },
    get refused() {
      return state.refused;
    },
    async run(caller, work) {
      if (state.closed) throw new Problem('STORAGE_UNAVAILABLE', 'the database is closed');
      await wait(caller);
      try {
        return await work();
      } finally {
        state.running--;
        callers.end(caller);
        beginNext();
      }
    },
    close() {
      state.closed = true;
      beginNext();
      return ended.promise;
    },
  };
}

/** Begins long attempts that wait, as far as they may begin. */
function beginWaiting(
  callers: TurnsOfCallers,
  state: { running: number },
  { concurrency, mayBegin }: Required<Pick<LongQueueOptions, 'concurrency' | 'mayBegin'>>,
): void {
  while (callers.waiting > 0 && state.running < concurrency && mayBegin(state.running)) {
    const begin = callers.next();
    if (begin === undefined) return;
    state.running++;
    begin();
  }
}

function isFull(callers: TurnsOfCallers, caller: string, length: number): boolean {
  return callers.waiting >= length || callers.waitingOf(caller) >= Math.ceil(length / 2);
}

/** Creates a function that calls `work` after the interval, once for all calls in between. */
function createRetry(work: () => void): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      work();
    }, RETRY_INTERVAL);
  };
}

function refuse(state: { refused: number }): Problem {
  state.refused++;
  return new Problem('STORAGE_BUSY', 'too many requests that take long are waiting already', { retryAfter: RETRY_AFTER });
}

/** The long attempts that wait or run, by caller. */
interface TurnsOfCallers {
  readonly waiting: number;
  waitingOf(caller: string): number;
  add(caller: string, begin: () => void): void;
  /** Removes and returns the first one of the caller whose turn it is, and counts it as running; undefined if as many of each caller run as may. */
  next(): (() => void) | undefined;
  /** Counts the end of one that ran. */
  end(caller: string): void;
}

function createTurnsOfCallers(perCaller: number): TurnsOfCallers {
  /** In the order of the turns. A caller moves to the end after a turn. */
  const callers = new Map<string, (() => void)[]>();
  const running = new Map<string, number>();
  let waiting = 0;
  return {
    get waiting() {
      return waiting;
    },
    waitingOf: (caller) => callers.get(caller)?.length ?? 0,
    add(caller, begin) {
      const own = callers.get(caller) ?? [];
      own.push(begin);
      callers.set(caller, own);
      waiting++;
    },
    next() {
      const first = [...callers].find(([caller]) => (running.get(caller) ?? 0) < perCaller);
      if (first === undefined) return undefined;
      const [caller, own] = first;
      const begin = own.shift();
      waiting--;
      callers.delete(caller);
      if (own.length > 0) callers.set(caller, own);
      running.set(caller, (running.get(caller) ?? 0) + 1);
      return begin;
    },
    end(caller) {
      const left = (running.get(caller) ?? 0) - 1;
      if (left > 0) running.set(caller, left);
      else running.delete(caller);
    },
  };
}
