/**
 * What users are assigned, loaded when one of them asks and kept as long as it stands. There may be millions of users, and
 * few ask at a time: those who asked last are kept, so many assignments at most.
 */
import { LRUCache } from 'lru-cache';
import { loadRevision, loadUserAssignments, type Revision, type Transaction } from '../storage/index.ts';
import { NO_ASSIGNMENTS, type UserAssignment } from './policies/index.ts';

/** What users are assigned as of one epoch. */
export interface UserAssignments {
  /** Of whoever asks; nothing for nobody. */
  of(tx: Transaction, userId: string | undefined): Promise<readonly UserAssignment[]>;
  /** Of users that are looked at one after the other. Asked once, so that it drives nobody out, and not kept. */
  ofEach(tx: Transaction, userIds: readonly string[]): Promise<(userId: string) => readonly UserAssignment[]>;
}

/** Keeps what users are assigned, of one epoch at a time. */
export interface AssignmentCache {
  /** As of an epoch: what is kept is answered for as long as it is kept for that one. */
  at(epoch: Revision): UserAssignments;
  /** Goes on to an epoch: forgets users, or everybody where none are named. */
  goOn(epoch: Revision, changed?: ReadonlySet<string> | undefined): void;
}

/** Keeps nothing yet. @param bound Users and assignments that are kept at most. */
export function createAssignmentCache(bound: number): AssignmentCache {
  const kept = new LRUCache<string, readonly UserAssignment[]>({ maxSize: bound, sizeCalculation: (grants) => grants.length + 1 });
  let stamp: string | undefined;

  /** Kept only where the epoch is still the same after it was read: then nothing of it is of another, or of a change that may be undone. */
  async function load(tx: Transaction, epoch: Revision, userId: string): Promise<readonly UserAssignment[]> {
    const [found, now] = await Promise.all([loadUserAssignments(tx, [userId]), loadRevision(tx)]);
    const grants = found.get(userId) ?? NO_ASSIGNMENTS;
    if (now.stamp === epoch.stamp && stamp === epoch.stamp) kept.set(userId, grants);
    return grants;
  }

  return {
    at: (epoch) => ({
      async of(tx, userId) {
        if (userId === undefined) return NO_ASSIGNMENTS;
        const known = stamp === epoch.stamp ? kept.get(userId) : undefined;
        return known ?? load(tx, epoch, userId);
      },
      async ofEach(tx, userIds) {
        const found = await loadUserAssignments(tx, userIds);
        return (userId) => found.get(userId) ?? NO_ASSIGNMENTS;
      },
    }),
    goOn(epoch, changed) {
      if (changed === undefined) kept.clear();
      else for (const userId of changed) kept.delete(userId);
      stamp = epoch.stamp;
    },
  };
}
