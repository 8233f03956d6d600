import { internal } from '../savepoints.ts';

/** The end of the event loop turn in which all units of work of a batch have to finish. */
export interface TurnDeadline {
  /** Rejects if the work is not finished in the turn. */
  within<T>(work: Promise<T>): Promise<T>;
  /** Ends the turn of a batch. */
  clear(): void;
}

/**
 * Creates the deadline. All methods of a transaction resolve without IO, so a unit of work that awaits nothing else finishes within one turn
 * of the event loop. A unit of work that awaits a timer or the network would hold the write lock meanwhile and delay all others.
 */
export function createTurnDeadline(): TurnDeadline {
  let check: NodeJS.Immediate | undefined;
  let refuse: (reason: unknown) => void = () => undefined;

  function exceed(): void {
    check = undefined;
    refuse(internal('a transaction awaited something else than itself'));
  }

  return {
    within(work) {
      check ??= setImmediate(exceed);
      // Promise.race would allocate three times as much.
      return new Promise((resolve, reject) => {
        refuse = reject;
        work.then(resolve, reject);
      });
    },
    clear() {
      clearImmediate(check);
      check = undefined;
    },
  };
}
