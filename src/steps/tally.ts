import type { Transaction } from '../storage/index.ts';

/**
 * Counts what the requests of a transaction use up together, and answers how much that is by now: a batch asks many
 * times, and everyone else waits for the whole of it.
 */
export function createTally(): (tx: Transaction, count: number) => number {
  const used = new WeakMap<Transaction, number>();
  return (tx, count) => {
    const total = (used.get(tx) ?? 0) + count;
    used.set(tx, total);
    return total;
  };
}
