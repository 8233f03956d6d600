import type { Transaction } from '../storage/index.ts';

/** Runs `work` in a savepoint. If `work` returns false, rolls back its writes and returns true. */
export async function rollBackUnless(tx: Transaction, work: () => Promise<boolean>): Promise<boolean> {
  try {
    await tx.savepoint(async () => {
      if (!(await work())) throw new RolledBack();
    });
    return false;
  } catch (error) {
    if (error instanceof RolledBack) return true;
    throw error;
  }
}

class RolledBack extends Error {}
