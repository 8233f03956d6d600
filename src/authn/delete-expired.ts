import type { Transaction } from '../storage/index.ts';
import { deleteExpiredAddresses, deleteExpiredAttempts, type LoginLimits } from './login-attempts.ts';
import { deleteExpiredSessions } from './sessions.ts';

const DELETE_EVERY_MS = 3_600_000;

/**
 * Creates the function that deletes some expired login attempts, known addresses, sessions and refresh tokens. Logins and refreshes call it,
 * because each adds at most a row to each of these tables.
 */
export function createDeletion(limits: LoginLimits): (tx: Transaction) => Promise<void> {
  let deletedAt = 0;
  return async (tx) => {
    // The absolute difference, so that deletions continue within an hour after the clock was set back.
    if (Math.abs(tx.now - deletedAt) <= DELETE_EVERY_MS) return;
    // Set before the first statement: other transactions meanwhile would wait for the rows that this one deletes.
    deletedAt = tx.now;
    const left = [await deleteExpiredAttempts(tx, limits), await deleteExpiredAddresses(tx), await deleteExpiredSessions(tx)];
    // The next call continues.
    if (left.includes(true)) deletedAt = 0;
  };
}
