import { internal } from '../savepoints.ts';

/** The end of the event loop turn in which all units of work of a batch have to finish. */
export interface TurnDeadline {
  /** Rejects if the work is not finished in the turn. */
  within<T>(work: () => Promise<T>): Promise<T>;
  clear(): void;
}

/**
 * Creates the deadline. All methods of a transaction resolve without IO, so a unit of work that awaits nothing else finishes within one turn
 * of the event loop. A unit of work that awaits a timer or the network would hold the write lock meanwhile and delay all others.
 */
export function createTurnDeadline(): TurnDeadline {
  let check: NodeJS.Immediate | undefined;
  /** Rejects the result of the work that runs now. Units of work run one after the other. */
  let rejectRunning: (error: unknown) => void = () => undefined;

  function onTurnEnd(): void {
    check = undefined;
    rejectRunning(internal('a transaction awaited something else than itself'));
  }

  return {
    within<T>(work: () => Promise<T>) {
      check ??= setImmediate(onTurnEnd);
      // Not `Promise.race`, which would add a reaction of each unit of work to one promise of the whole batch.
      return new Promise<T>((resolve, reject) => {
        rejectRunning = reject;
        work().then(resolve, reject);
      });
    },
    clear: () => clearImmediate(check),
  };
}
