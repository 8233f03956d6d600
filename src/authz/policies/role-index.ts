import type { RuleAction } from '../../actions.ts';
import { getOrCreate } from '../../memoize.ts';
import type { Policy } from './policy.ts';
import { findPolicy, type PolicySnapshot } from './policy-snapshot.ts';
import type { RoleIndex } from './rule-buckets.ts';
import { coversResource } from './rule-resources.ts';

/** Maximum number of policies that may have changed since an index was built. Beyond it, the index is built again. */
const MAX_CHANGED = 1000;

/** The role, and the resource and action of a request. */
export interface IndexedRequest {
  readonly role: string;
  readonly resource: string;
  readonly action: RuleAction;
}

/**
 * Returns the policies of a role that may have rules about a resource and action. The caller selects their rules.
 *
 * A role may have ten thousand policies, and most may have no rule about the request. A preview collects the rules for every resource and
 * action, so it would walk over all policies as often. The snapshots that follow each other share the index of a role: policies that differ from
 * it are searched one by one, so a change of a policy costs nothing here.
 */
export function policiesAbout(snapshot: PolicySnapshot, request: IndexedRequest, assigned: RoleIndex['assigned']): readonly Policy[] {
  const { policies, memo } = snapshot;
  const known = memo.roleIndexes.get(request.role);
  const changed = known === undefined ? undefined : differing(known, { policies, assigned });
  if (known !== undefined && changed !== undefined && changed.size <= MAX_CHANGED) {
    const kept = search(known, request).filter(({ id }) => !changed.has(id));
    return [...kept, ...[...changed].flatMap((id) => (assigned.has(id) ? (findPolicy(policies, id) ?? []) : []))];
  }
  const index = createIndex(snapshot, assigned);
  memo.roleIndexes.set(request.role, index);
  return search(index, request);
}

/** Returns the ids of the policies that differ from those of an index, or are assigned in another way. */
function differing(index: RoleIndex, { policies, assigned }: Pick<RoleIndex, 'policies' | 'assigned'>): ReadonlySet<string> {
  return new Set([...policies.differingKeys(index.policies), ...assigned.differingKeys(index.assigned)]);
}

function createIndex({ policies }: PolicySnapshot, assigned: RoleIndex['assigned']): RoleIndex {
  const byResource = new Map<string, Map<string, Policy[]>>();
  for (const [policyId] of assigned.entries()) {
    const policy = findPolicy(policies, policyId);
    for (const { resource, action, isActive } of policy?.rules ?? []) {
      if (!isActive || policy === undefined) continue;
      const found = getOrCreate(getOrCreate(byResource, resource, createActions), action, createList);
      // The rules of a policy follow each other.
      if (found.at(-1) !== policy) found.push(policy);
    }
  }
  return { policies, assigned, byResource };
}

function createActions(): Map<string, Policy[]> {
  return new Map();
}

function createList(): Policy[] {
  return [];
}

/** Returns the policies that name the resource and action, or `*` for one of them or both. A policy occurs once. */
function search({ byResource }: RoleIndex, { resource, action }: IndexedRequest): readonly Policy[] {
  const names = [...new Set([resource, '*'])].filter((named) => coversResource(named, resource));
  const lists = names.flatMap((name) => [...new Set([action, '*'])].map((each) => byResource.get(name)?.get(each) ?? []));
  const filled = lists.filter(({ length }) => length > 0);
  return filled.length === 1 ? (filled[0] ?? []) : [...new Set(filled.flat())];
}
