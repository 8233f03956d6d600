import type { Transaction } from '../storage/index.ts';

/**
 * Creates a function that adds a count to the total of a transaction and returns the new total. Limits apply to the total of a batch,
 * because other requests wait until its transaction ends.
 */
export function createUsageCounter(): (tx: Transaction, count: number) => number {
  const used = new WeakMap<Transaction, number>();
  return (tx, count) => {
    const total = (used.get(tx) ?? 0) + count;
    used.set(tx, total);
    return total;
  };
}
