/**
 * A cache of the policies that users are assigned. A user's assignments are loaded on the first request and kept until a
 * revision changes them; the least recently used are evicted.
 */
import { LRUCache } from 'lru-cache';
import { loadRevision, loadUserAssignments, type Revision, type Transaction } from '../storage/index.ts';
import { type DamagedRow, NO_ASSIGNMENTS, type UserAssignment } from './policies/index.ts';

/** The assignments of users at one revision. */
export interface UserAssignments {
  /** Returns the assignments of a user; an empty list for `undefined`. A promise if they have to be loaded. */
  of(tx: Transaction, userId: string | undefined): readonly UserAssignment[] | Promise<readonly UserAssignment[]>;
  /**
   * Loads the assignments of many users with one statement, within the time limit of the request. The result is not cached, so that it evicts
   * no other users.
   */
  ofEach(tx: Transaction, userIds: readonly string[]): Promise<(userId: string) => readonly UserAssignment[]>;
}

/** Caches the assignments of users at one revision at a time. */
export interface AssignmentCache {
  /** Returns the assignments at a revision. The cache is used only while it holds that revision. */
  at(revision: Revision): UserAssignments;
  /** Moves the cache to a revision and forgets these users, or all users if `changed` is undefined. */
  moveTo(revision: Revision, changed?: ReadonlySet<string> | undefined): void;
}

/**
 * Creates an empty cache.
 *
 * @param bound Maximum number of users and assignments together.
 * @param report Receives the damaged rows that were found.
 */
export function createAssignmentCache(bound: number, report: (damaged: readonly DamagedRow[]) => void = () => undefined): AssignmentCache {
  const cached = new LRUCache<string, readonly UserAssignment[]>({
    maxSize: bound,
    sizeCalculation: (assignments) => assignments.length + 1,
  });
  let stamp: string | undefined;

  /**
   * Loads the assignments of a user. Caches them only if the revision is unchanged after the read: otherwise the rows could belong to a
   * later revision, or to a change that is rolled back. Damaged assignments are loaded again with each request, until they are repaired.
   */
  async function load(tx: Transaction, revision: Revision, userId: string): Promise<readonly UserAssignment[]> {
    const [found, now] = await Promise.all([loadUserAssignments(tx, [userId]), loadRevision(tx)]);
    const assignments = found.assignments.get(userId) ?? NO_ASSIGNMENTS;
    if (now.stamp !== revision.stamp || stamp !== revision.stamp) return assignments;
    if (found.damaged.length > 0) report(found.damaged);
    else cached.set(userId, assignments);
    return assignments;
  }

  return {
    at: (revision) => ({
      of(tx, userId) {
        if (userId === undefined) return NO_ASSIGNMENTS;
        const known = stamp === revision.stamp ? cached.get(userId) : undefined;
        // Without the time limit of the request: beyond it, a user with many assignments could send no request at all.
        return known ?? tx.withoutTimeLimit(() => load(tx, revision, userId));
      },
      async ofEach(tx, userIds) {
        const { assignments } = await loadUserAssignments(tx, userIds, { isLimited: true });
        return (userId) => assignments.get(userId) ?? NO_ASSIGNMENTS;
      },
    }),
    moveTo(revision, changed) {
      if (changed === undefined) cached.clear();
      else for (const userId of changed) cached.delete(userId);
      stamp = revision.stamp;
    },
  };
}
