/** Lets long attempts take turns on the event loop, so that together they delay the other requests by one slice of work at a time. */
export interface Turns {
  /** Calls `work` in a later turn of the event loop, in which no other long attempt continues, and resolves with its result. */
  take<T>(work: () => T): Promise<T>;
}

/** The maximum milliseconds of a slice of work. */
export const SLICE = 4;

/** Creates the turns of one database. */
export function createTurns(): Turns {
  const waiting: (() => void)[] = [];

  function run(): void {
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
  };
}
