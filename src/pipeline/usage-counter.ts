import type { Transaction } from '../storage/index.ts';

/**
 * Creates a counter that returns the total of its transaction. The limits apply to a batch as a whole, because other requests wait until
 * its transaction ends.
 */
export function createUsageCounter(): (tx: Transaction, count: number) => number {
  const used = new WeakMap<Transaction, number>();
  return (tx, count) => {
    const total = (used.get(tx) ?? 0) + count;
    used.set(tx, total);
    return total;
  };
}
