import { Problem } from '../../errors.ts';
import type { Tell } from './telling.ts';

/** Milliseconds to wait for another process that evolves the same database. */
const PATIENCE = 10 * 60_000;
/** Milliseconds between two tries, in which requests go on. */
const PAUSE = 50;

/**
 * Two may start at once: the second waits until the first is done, however long a conversion takes, and then finds nothing to do.
 * Whoever looks on is told that it waits.
 */
export async function whenFree<T>(work: () => Promise<T>, tell: Tell): Promise<T> {
  let isTold = false;
  for (const from = performance.now(); ; ) {
    try {
      return await work();
    } catch (error) {
      const isBusy = error instanceof Problem && error.code === 'STORAGE_BUSY';
      if (!isBusy || performance.now() - from > PATIENCE) throw error;
      if (!isTold) tell('another process works on the database; this waits until that is done');
      isTold = true;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}
