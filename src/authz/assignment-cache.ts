/**
 * A cache of the policies that users are assigned. A user's assignments are loaded on the first request, with the policies that the snapshot
 * does not have, and kept until a revision changes them; the least recently used are evicted.
 */
import { LRUCache } from 'lru-cache';
import { loadRevision, loadUserAssignments, type Revision, type Transaction } from '../storage/index.ts';
import { type AssignedPolicies, createAssignedPolicies, type RevisionPolicies, withPolicies } from './assigned-policies.ts';
import { type DamagedRow, NO_ASSIGNMENTS, type Policy, type UserAssignment } from './policies/index.ts';

/** The assignments of users at one revision, with the policies that the snapshot does not have. */
export interface UserAssignments {
  /** Returns the assignments of a user; an empty list for `undefined`. A promise if they have to be loaded. */
  of(tx: Transaction, userId: string | undefined): readonly UserAssignment[] | Promise<readonly UserAssignment[]>;
  /**
   * Loads the assignments of many users with few statements, within the time limit of the request. The assignments are not cached and the
   * policies only as long as there is space, so that they evict no others.
   */
  ofEach(tx: Transaction, userIds: readonly string[]): Promise<(userId: string) => readonly UserAssignment[]>;
  /** Loads the policies with these ids that the snapshot does not have, within the time limit of the request. */
  policies(tx: Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, Policy>>;
}

/** The objects that a revision changes. */
export interface ChangedObjects {
  /** Users whose assignments change; all users if undefined. */
  readonly users: ReadonlySet<string> | undefined;
  /** The changed policies by id. */
  readonly policies: ReadonlyMap<string, unknown>;
}

/** Caches the assignments of users at one revision at a time. */
export interface AssignmentCache {
  /** Returns the assignments at a revision. The cache is used only while it holds that revision. */
  at(at: RevisionPolicies): UserAssignments;
  /** Moves the cache to a revision and forgets what it changes, or everything if `changed` is undefined. */
  moveTo(revision: Revision, changed?: ChangedObjects | undefined): void;
}

/** The assignments of a user with the policies that a snapshot does not have, and the policies of the snapshot. */
interface CachedUser {
  assignments: readonly UserAssignment[];
  stamp: string;
  /** The policies of the snapshot. Another snapshot of the same revision may have those of more roles, or of fewer. */
  policies: RevisionPolicies['policies'];
}

/**
 * Creates an empty cache.
 *
 * @param bound Maximum number of users and assignments together, and of policies and rules together.
 * @param report Receives the damaged rows that were found.
 */
export function createAssignmentCache(bound: number, report: (damaged: readonly DamagedRow[]) => void = () => undefined): AssignmentCache {
  const cached = new LRUCache<string, CachedUser>({ maxSize: bound, sizeCalculation: ({ assignments }) => assignments.length + 1 });
  const policies = createAssignedPolicies(bound);
  let stamp: string | undefined;

  /**
   * Loads the assignments of a user and their policies. Caches them only if the revision is unchanged after the read: otherwise the rows
   * could belong to a later revision, or to a change that is rolled back. Damaged rows are loaded again with each request, until they are
   * repaired.
   */
  async function load(tx: Transaction, at: RevisionPolicies, userId: string): Promise<readonly UserAssignment[]> {
    const [loaded, now] = await Promise.all([loadUserAssignments(tx, [userId]), loadRevision(tx)]);
    const stored = loaded.assignments.get(userId) ?? NO_ASSIGNMENTS;
    const found = await policies.find(tx, at, { ids: stored.map(toPolicyId) });
    const assignments = withPolicies(stored, found.policies);
    const { stamp: own } = at.revision;
    if (now.stamp !== own || !found.isCurrent || stamp !== own) return assignments;
    const damaged = [...loaded.damaged, ...found.damaged];
    if (damaged.length > 0) report(damaged);
    else cached.set(userId, { assignments, stamp, policies: at.policies });
    return assignments;
  }

  /** Returns cached assignments with the policies that the snapshot does not have; undefined if something has to be loaded. */
  function findCached(at: RevisionPolicies, userId: string): readonly UserAssignment[] | undefined {
    const known = stamp === at.revision.stamp ? cached.get(userId) : undefined;
    if (known === undefined || (known.stamp === stamp && known.policies === at.policies)) return known?.assignments;
    const assignments = policies.addCached(at, known.assignments);
    if (assignments !== undefined) [known.assignments, known.stamp, known.policies] = [assignments, at.revision.stamp, at.policies];
    return assignments;
  }

  return {
    at: (at) => ({
      of(tx, userId) {
        if (userId === undefined) return NO_ASSIGNMENTS;
        // Without the time limit of the request: beyond it, a user with many assignments could send no request at all.
        return findCached(at, userId) ?? tx.withoutTimeLimit(() => load(tx, at, userId));
      },
      ofEach: (tx, userIds) => loadEach(policies, tx, { at, userIds }),
      policies: async (tx, ids) => (await policies.find(tx, at, { ids, isForMany: true })).policies,
    }),
    moveTo(revision, changed) {
      if (changed?.users === undefined) cached.clear();
      else for (const userId of changed.users) cached.delete(userId);
      policies.moveTo(revision, changed?.policies.keys());
      stamp = revision.stamp;
    },
  };
}

/** Loads the assignments of many users and their policies. */
async function loadEach(
  policies: AssignedPolicies,
  tx: Transaction,
  { at, userIds }: { readonly at: RevisionPolicies; readonly userIds: readonly string[] },
): ReturnType<UserAssignments['ofEach']> {
  const { assignments } = await loadUserAssignments(tx, userIds, { isLimited: true });
  const found = await policies.find(tx, at, { ids: [...assignments.values()].flat().map(toPolicyId), isForMany: true });
  const ofUsers = new Map([...assignments].map(([userId, own]) => [userId, withPolicies(own, found.policies)]));
  return (userId) => ofUsers.get(userId) ?? NO_ASSIGNMENTS;
}

function toPolicyId({ policyId }: UserAssignment): string {
  return policyId;
}
