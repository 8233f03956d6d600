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
  /** Begins a request. If the requests before it in a batch have reached a limit, each of its searches throws REQUEST_BUDGET. */
  beginRequest(): void;
  /** Runs a search and counts its time; a search within a search counts once. A search of the first request always begins, so that each page makes progress. */
  search<T>(work: () => Promise<T>): Promise<T>;
  /** Waits for something that is not part of a search, and does not count the time. */
  pause<T>(wait: () => Promise<T>): Promise<T>;
}

/** Creates the budget of one run of a unit of work. */
export function createBudget(limits: BudgetLimits): Budget {
  const watch = createStopwatch();
  let rows = 0;
  let hasSearched = false;
  let exhausted: SearchLimit | undefined;
  const budget: Budget = {
    limits,
    answer: createAnswerSize(limits.answerBytes),
    get rowsLeft() {
      return Math.max(0, limits.rows - rows);
    },
    get millisecondsLeft() {
      return Math.max(0, limits.milliseconds - watch.milliseconds);
    },
    get reached() {
      if (budget.rowsLeft === 0) return 'scanRows';
      return budget.millisecondsLeft === 0 ? 'scanMilliseconds' : undefined;
    },
    addRows(count) {
      rows += count;
    },
    beginRequest() {
      if (hasSearched) exhausted = budget.reached;
    },
    async search(work) {
      if (!watch.isRunning && exhausted !== undefined) throw toBudgetProblem(limits, exhausted);
      hasSearched = true;
      return watch.during(work);
    },
    pause: (wait) => watch.except(wait),
  };
  return budget;
}

/** Adds up the time of work. */
interface Stopwatch {
  readonly milliseconds: number;
  readonly isRunning: boolean;
  /** Counts the time of `work`; work within work counts once. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Stops while `wait` runs. */
  except<T>(wait: () => Promise<T>): Promise<T>;
}

function createStopwatch(): Stopwatch {
  let counted = 0;
  let depth = 0;
  /** The time from which the running work counts; undefined while the watch is stopped. */
  let since: number | undefined;
  const current = (): number => (since === undefined ? 0 : performance.now() - since);
  const stop = (): void => {
    counted += current();
    since = undefined;
  };
  return {
    get milliseconds() {
      return counted + current();
    },
    get isRunning() {
      return depth > 0;
    },
    async during(work) {
      depth++;
      since ??= performance.now();
      try {
        return await work();
      } finally {
        depth--;
        if (depth === 0) stop();
      }
    },
    async except(wait) {
      stop();
      try {
        return await wait();
      } finally {
        if (depth > 0) since = performance.now();
      }
    },
  };
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
