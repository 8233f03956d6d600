import { Problem } from '../errors.ts';
import { type AnswerSize, createAnswerSize } from './answer-size.ts';

/** The limits of a request. The requests of a batch share them. */
export interface BudgetLimits {
  /** Maximum milliseconds of all searches, in SQL and in memory. */
  readonly milliseconds: number;
  /** Maximum rows that all searches examine. */
  readonly rows: number;
  /** Maximum bytes of the response body. */
  readonly answerBytes: number;
  /** Maximum milliseconds of a request that writes many records at once on SQLite; no limit if absent. */
  readonly writeMilliseconds?: number | undefined;
  /** Rows of each window of a list, in every attempt; adapted to the time in long attempts if absent. Tests set it. */
  readonly windowRows?: number | undefined;
}

/** The config option whose limit ended a search. */
export type SearchLimit = 'scanMilliseconds' | 'scanRows';

/** The work that a request may still do, and the size of its answer so far. */
export interface Budget {
  readonly limits: BudgetLimits;
  readonly answer: AnswerSize;
  /** Number of rows that searches may still examine; 0 if the limit is reached. */
  readonly rowsLeft: number;
  /** Milliseconds that searches may still take; 0 if the limit is reached. */
  readonly millisecondsLeft: number;
  /** The limit that the searches have reached; undefined if none. */
  readonly reached: SearchLimit | undefined;
  /** Adds rows that a search has examined. */
  addRows(count: number): void;
  /** Returns the milliseconds since its first call, which follows the first decision: policies that were loaded for it do not count. */
  writeTime(): number;
  /** Begins a request. If the requests before it in a batch have reached a limit, each of its searches throws REQUEST_BUDGET. */
  beginRequest(): void;
  /** Runs a search and counts its time; a search within a search counts once. A search of the first request always begins, so that each page makes progress. */
  search<T>(work: () => Promise<T>): Promise<T>;
  /** Waits for something that is not part of a search, and does not count the time. */
  pause<T>(wait: () => Promise<T>): Promise<T>;
}

/** Creates the budget of one run of a unit of work. */
export function createBudget(limits: BudgetLimits): Budget {
  return new RequestBudget(limits);
}

/** A class, because each request creates one: an object literal with getters would have a hidden class of its own, which slows the garbage collector. */
class RequestBudget implements Budget {
  readonly limits: BudgetLimits;
  readonly answer: AnswerSize;
  readonly #watch = new Stopwatch();
  #firstWrite: number | undefined;
  #rows = 0;
  #hasSearched = false;
  #exhausted: SearchLimit | undefined;

  constructor(limits: BudgetLimits) {
    this.limits = limits;
    this.answer = createAnswerSize(limits.answerBytes);
  }

  get rowsLeft(): number {
    return Math.max(0, this.limits.rows - this.#rows);
  }

  get millisecondsLeft(): number {
    return Math.max(0, this.limits.milliseconds - this.#watch.milliseconds);
  }

  get reached(): SearchLimit | undefined {
    if (this.rowsLeft === 0) return 'scanRows';
    return this.millisecondsLeft === 0 ? 'scanMilliseconds' : undefined;
  }

  addRows(count: number): void {
    this.#rows += count;
  }

  writeTime(): number {
    this.#firstWrite ??= performance.now();
    return performance.now() - this.#firstWrite;
  }

  beginRequest(): void {
    if (this.#hasSearched) this.#exhausted = this.reached;
  }

  search<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#watch.isRunning && this.#exhausted !== undefined) return Promise.reject(toBudgetProblem(this.limits, this.#exhausted));
    this.#hasSearched = true;
    return this.#watch.during(work);
  }

  pause<T>(wait: () => Promise<T>): Promise<T> {
    return this.#watch.except(wait);
  }
}

/** Adds up the time of work. */
class Stopwatch {
  #counted = 0;
  #depth = 0;
  /** The time from which the running work counts; undefined while the watch is stopped. */
  #since: number | undefined;

  get milliseconds(): number {
    return this.#counted + (this.#since === undefined ? 0 : performance.now() - this.#since);
  }

  get isRunning(): boolean {
    return this.#depth > 0;
  }

  /** Counts the time of `work`; work within work counts once. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#depth++;
    this.#since ??= performance.now();
    try {
      return await work();
    } finally {
      this.#depth--;
      if (this.#depth === 0) this.#stop();
    }
  }

  /** Stops while `wait` runs. */
  async except<T>(wait: () => Promise<T>): Promise<T> {
    this.#stop();
    try {
      return await wait();
    } finally {
      if (this.#depth > 0) this.#since = performance.now();
    }
  }

  #stop(): void {
    this.#counted = this.milliseconds;
    this.#since = undefined;
  }
}

/** Returns the text of a limit for warnings and problems: `2000 ms (scanMilliseconds)`. */
export function describeLimit(limits: BudgetLimits, limit: SearchLimit | 'answerBytes'): string {
  const { milliseconds, rows, answerBytes } = limits;
  const texts = { scanMilliseconds: `${milliseconds} ms`, scanRows: `${rows} rows`, answerBytes: `${answerBytes} bytes` };
  return `${texts[limit]} (${limit})`;
}

function toBudgetProblem(limits: BudgetLimits, limit: SearchLimit): Problem {
  const detail = `earlier requests of the batch have reached the limit of ${describeLimit(limits, limit)}`;
  return new Problem('REQUEST_BUDGET', detail, { hint: 'send the request in another batch' });
}
