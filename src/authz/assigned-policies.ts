/**
 * A cache of the policies that users have and that the snapshot does not. A policy is loaded, and compared with its checksum, when a user who
 * has it makes a request, and kept until a revision changes it; the least recently used are evicted.
 */
import { LRUCache } from 'lru-cache';
import { loadCheckedPolicies, loadRevision, type Revision, type Transaction } from '../storage/index.ts';
import { type DamagedRow, findPolicy, type Policy, type PolicySnapshot, type UserAssignment } from './policies/index.ts';

/** A revision, and the policies that its snapshot has. */
export interface RevisionPolicies {
  readonly revision: Revision;
  readonly policies: PolicySnapshot['policies'];
}

/** The policies of assignments at one revision. */
export interface FoundPolicies {
  /** Policies by id, active or not, without those of the snapshot. A policy that denies everything takes the place of a damaged one. */
  readonly policies: ReadonlyMap<string, Policy>;
  readonly damaged: readonly DamagedRow[];
  /** False if the revision changed while they were loaded, so that they may belong to a later one. */
  readonly isCurrent: boolean;
}

/** The policies to find. */
export interface PolicyQuery {
  readonly ids: Iterable<string>;
  /** True if the policies of many users are loaded: the time counts toward the limit of the request, and they evict no others. */
  readonly isForMany?: boolean;
}

/** Caches policies at one revision at a time. */
export interface AssignedPolicies {
  /** Adds their policies to assignments without loading; undefined if one has to be loaded. */
  addCached(at: RevisionPolicies, assignments: readonly UserAssignment[]): readonly UserAssignment[] | undefined;
  find(tx: Transaction, at: RevisionPolicies, query: PolicyQuery): Promise<FoundPolicies>;
  /** Moves the cache to a revision and forgets these policies, or all if `changed` is undefined. */
  moveTo(revision: Revision, changed: Iterable<string> | undefined): void;
}

/**
 * Creates an empty cache.
 *
 * @param bound Maximum number of policies and rules together.
 */
export function createAssignedPolicies(bound: number): AssignedPolicies {
  const cached = new LRUCache<string, Policy>({ maxSize: bound, sizeCalculation: toSize });
  let stamp: string | undefined;

  /** Caches policies only if the revision is unchanged after the read, and never damaged ones, so that their repair takes effect. */
  function keep({ policies, damaged }: Omit<FoundPolicies, 'isCurrent'>, { isForMany = false }: Pick<PolicyQuery, 'isForMany'>): void {
    const isDamaged = new Set(damaged.map(({ id }) => id));
    for (const [id, policy] of policies) {
      if (isDamaged.has(id) || (isForMany && cached.calculatedSize + toSize(policy) > bound)) continue;
      cached.set(id, policy);
    }
  }

  /** Returns the cached policies that the snapshot does not have, and the ids of those that have to be loaded. */
  function findCached(at: RevisionPolicies, ids: Iterable<string>): { readonly found: Map<string, Policy>; readonly missing: string[] } {
    const found = new Map<string, Policy>();
    const missing: string[] = [];
    for (const id of new Set(ids)) {
      if (findPolicy(at.policies, id) !== undefined) continue;
      const known = stamp === at.revision.stamp ? cached.get(id) : undefined;
      if (known === undefined) missing.push(id);
      else found.set(id, known);
    }
    return { found, missing };
  }

  async function find(tx: Transaction, at: RevisionPolicies, query: PolicyQuery): Promise<FoundPolicies> {
    const { found, missing } = findCached(at, query.ids);
    if (missing.length === 0) return { policies: found, damaged: [], isCurrent: true };
    const loaded = await loadCheckedPolicies(tx, missing, { isLimited: query.isForMany === true });
    const now = await loadRevision(tx);
    const isCurrent = now.stamp === at.revision.stamp;
    if (isCurrent && stamp === now.stamp) keep(loaded, query);
    return { policies: new Map([...found, ...loaded.policies]), damaged: loaded.damaged, isCurrent };
  }

  return {
    addCached(at, assignments) {
      const { found, missing } = findCached(at, policyIdsOf(assignments));
      return missing.length > 0 ? undefined : withPolicies(assignments, found);
    },
    find,
    moveTo(revision, changed) {
      if (changed === undefined) cached.clear();
      else for (const id of changed) cached.delete(id);
      stamp = revision.stamp;
    },
  };
}

function policyIdsOf(assignments: readonly UserAssignment[]): readonly string[] {
  return assignments.map(({ policyId }) => policyId);
}

function toSize({ rules }: Policy): number {
  return rules.length + 1;
}

/** Returns assignments with these policies, if they are active; other policies are those of the snapshot. */
export function withPolicies(assignments: readonly UserAssignment[], policies: FoundPolicies['policies']): readonly UserAssignment[] {
  const changed = assignments.map((assignment) => {
    const policy = policies.get(assignment.policyId);
    const active = policy?.isActive === true ? policy : undefined;
    return assignment.policy === active ? assignment : { ...assignment, policy: active };
  });
  return changed.every((each, at) => each === assignments[at]) ? assignments : Object.freeze(changed);
}
