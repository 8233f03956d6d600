/** Lets long attempts take turns on the event loop, so that together they delay the other requests by one slice of work at a time. */
export interface Turns {
  /** Calls `work` in a later turn of the event loop, in which no other long attempt continues, and resolves with its result. */
  take<T>(work: () => T): Promise<T>;
  /**
   * Begins a unit of work that goes first: until it has ended, each slice waits for it, but only for some milliseconds. Returns the function that ends it,
   * which may be called repeatedly.
   */
  goFirst(): () => void;
}

/** The maximum milliseconds of a slice of work. */
export const SLICE = 4;
/** Milliseconds between two slices if units of work go first. Long attempts continue even if there is always one. */
const INTERVAL = 4 * SLICE;
/** Milliseconds after which a slice that waits tries again. */
const RETRY = 1;

/** Creates the turns of one database. */
export function createTurns(now: () => number = () => performance.now()): Turns {
  const waiting: (() => void)[] = [];
  let first = 0;
  /** The time at which the last slice began. */
  let last = Number.NEGATIVE_INFINITY;

  function run(): void {
    if (first > 0 && now() - last < INTERVAL) {
      setTimeout(run, RETRY);
      return;
    }
    last = now();
    const next = waiting.shift();
    // An immediate that is set while immediates run belongs to the next turn.
    if (waiting.length > 0) setImmediate(run);
    next?.();
  }

  return {
    take: (work) =>
      new Promise((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(work());
          } catch (error) {
            reject(error);
          }
        });
        if (waiting.length === 1) setImmediate(run);
      }),
    goFirst() {
      first++;
      let isRunning = true;
      return () => {
        if (isRunning) first--;
        isRunning = false;
      };
    },
  };
}
