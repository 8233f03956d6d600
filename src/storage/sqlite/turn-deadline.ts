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
  let exceeded: PromiseWithResolvers<never> | undefined;
  let check: NodeJS.Immediate | undefined;

  function start(): PromiseWithResolvers<never> {
    const deadline = Promise.withResolvers<never>();
    check = setImmediate(() => {
      exceeded = undefined;
      deadline.reject(internal('a transaction awaited something else than itself'));
    });
    return deadline;
  }

  return {
    within(work) {
      exceeded ??= start();
      return Promise.race([work(), exceeded.promise]);
    },
    clear: () => clearImmediate(check),
  };
}
