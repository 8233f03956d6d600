import { getOrCreate } from '../../memoize.ts';
import { ASSIGNABLE_ROLES, type Definitions } from '../../resources/index.ts';
import type { CompileOptions } from './compiled-rule.ts';
import { DAMAGED_ASSIGNMENT } from './damaged-policy.ts';
import type { PolicyLimits } from './parse-policy.ts';
import { PersistentMap } from './persistent-map.ts';
import type { DamagedRow, Policy, PolicyChanges, PolicyState, RolePolicy } from './policy.ts';
import { type ChangedPolicies, changeBuckets, type SnapshotMemo } from './rule-buckets.ts';
import { countWatched, toWatch, type Watch, type WatchCounts } from './watched-records.ts';

/**
 * The policies and role assignments of one revision, indexed for `applicableRules`. Created by `compilePolicies`, or from the snapshot of an
 * earlier revision by `changePolicies`. Assignments of users and the policies that only users have are not part of it, because there may be
 * millions of them.
 *
 * A rule is compiled when a request first needs it, because most rules are not needed before the next change of a policy. Stored policies do
 * not change within a revision, so a rule that is compiled late is the same.
 */
export interface PolicySnapshot {
  readonly revision: number;
  /**
   * Active policies by id, as stored: those of roles that are not pending, and those whose conditions may read other records
   * (`needed-policies.ts`). The other policies come with the assignments of users (`UserAssignment`).
   */
  readonly policies: PersistentMap<Policy>;
  /** False if the assignments to roles have to be loaded; then all roles are pending. */
  readonly hasRolePolicies: boolean;
  /** Active role assignments by id, including those of inactive policies. */
  readonly rolePolicies: PersistentMap<RolePolicy>;
  /** The same assignments by id of the policy. */
  readonly rolesByPolicy: PersistentMap<readonly RolePolicy[]>;
  /** Roles whose policies have to be loaded before a decision needs the role (`pending-roles.ts`). */
  readonly pendingRoles: ReadonlySet<string>;
  /** Role → id of an active policy → priority of the assignment. A role without active policies is absent; a pending role lacks some. */
  readonly byRole: ReadonlyMap<string, PersistentMap<number>>;
  /** Resources that active rules of these policies name, including `*`, with the number of these rules. */
  readonly named: ReadonlyMap<string, number>;
  /** The records that active rules read in addition to those that they decide, with the number of these rules. */
  readonly watchCounts: WatchCounts;
  readonly watch: Watch;
  /** The damaged rows among the stored policies and role assignments. */
  readonly damaged: readonly DamagedRow[];
  readonly compileOptions: CompileOptions;
  readonly memo: SnapshotMemo;
}

/** Creates the snapshot of a stored state. */
export function compilePolicies(state: PolicyState, definitions: Definitions, limits: PolicyLimits): PolicySnapshot {
  const active = state.policies.filter(({ isActive }) => isActive);
  const policies = PersistentMap.of(new Map(active.map((policy) => [policy.id, policy])));
  const assigned = indexAssignments(state.rolePolicies);
  return Object.freeze({
    revision: state.revision,
    policies,
    hasRolePolicies: state.isWithoutRoles === undefined,
    ...assigned,
    pendingRoles: state.isWithoutRoles ? ALL_ROLES : NO_ROLES,
    byRole: indexByRole(policies, assigned.rolePolicies.values()),
    named: countNames(active),
    ...watchAll(active, definitions),
    damaged: state.damaged ?? [],
    compileOptions: Object.freeze({ definitions, limits }),
    memo: Object.freeze({ rules: new WeakMap(), buckets: new Map(), roleIndexes: new Map(), merged: { entries: new Map(), size: 0 } }),
  });
}

const NO_ROLES: ReadonlySet<string> = new Set();
const ALL_ROLES: ReadonlySet<string> = new Set(ASSIGNABLE_ROLES);

/** Indexes the active assignments by id and by policy. */
export function indexAssignments(assignments: readonly RolePolicy[]): Pick<PolicySnapshot, 'rolePolicies' | 'rolesByPolicy'> {
  const rolePolicies = new Map<string, RolePolicy>();
  const rolesByPolicy = new Map<string, RolePolicy[]>();
  for (const assignment of assignments) {
    if (!assignment.isActive) continue;
    rolePolicies.set(assignment.id, assignment);
    getOrCreate(rolesByPolicy, assignment.policyId, createList).push(assignment);
  }
  return { rolePolicies: PersistentMap.of(rolePolicies), rolesByPolicy: PersistentMap.of(rolesByPolicy) };
}

/** Indexes the assignments of active policies by role. */
export function indexByRole(policies: PolicySnapshot['policies'], rolePolicies: Iterable<RolePolicy>): PolicySnapshot['byRole'] {
  const byRole = new Map<string, Map<string, number>>();
  for (const { role, policyId, priority } of rolePolicies) {
    if (findPolicy(policies, policyId) !== undefined) getOrCreate(byRole, role, createPriorities).set(policyId, priority);
  }
  return new Map([...byRole].map(([role, assigned]) => [role, PersistentMap.of(assigned)]));
}

function createList(): RolePolicy[] {
  return [];
}

function createPriorities(): Map<string, number> {
  return new Map();
}

/** Counts the active rules of each resource that active policies name. */
export function countNames(active: Iterable<Policy>): ReadonlyMap<string, number> {
  const named = new Map<string, number>();
  for (const policy of active) countRules(named, policy, 1);
  return named;
}

/** Adds `by` to the number of active rules of each resource that a policy names. */
function countRules(named: Map<string, number>, policy: Policy | undefined, by: 1 | -1): void {
  for (const { resource, isActive } of policy?.rules ?? []) {
    if (!isActive) continue;
    const rules = (named.get(resource) ?? 0) + by;
    if (rules === 0) named.delete(resource);
    else named.set(resource, rules);
  }
}

/**
 * Creates the snapshot of a later revision. Its cost depends on the number of changes and not on the number of policies: everything that the
 * changes do not concern is shared with the snapshot before.
 * The changes must replace no damaged row of the earlier snapshot, because they do not name the policies that take its place. They must be those
 * that the snapshot needs (`toNeededChanges`), with every policy that a role gets and that it does not have.
 */
export function changePolicies(before: PolicySnapshot, changes: PolicyChanges): PolicySnapshot {
  const policies = before.policies.with(activeOnly(changes.policies));
  const rolePolicies = before.rolePolicies.with(activeOnly(changes.rolePolicies));
  const ids = new Set(changes.policies.keys());
  for (const [id, after] of changes.rolePolicies) {
    for (const assignment of [before.rolePolicies.get(id), after]) if (assignment !== undefined) ids.add(assignment.policyId);
  }
  const rolesByPolicy = changeRolesByPolicy(before, changes.rolePolicies);
  const named = changeNames(before, policies, changes.policies.keys());
  const watched = changeWatch(before, policies, changes.policies.keys());
  const rules = [...ids].flatMap((id) => [...rulesOf(before.policies, id), ...rulesOf(policies, id)]);
  return Object.freeze({
    revision: changes.revision,
    policies,
    rolePolicies,
    rolesByPolicy,
    hasRolePolicies: before.hasRolePolicies,
    pendingRoles: before.pendingRoles,
    byRole: changeRoles(before, { policies, rolesByPolicy }, ids),
    named,
    ...watched,
    damaged: before.damaged,
    compileOptions: before.compileOptions,
    memo: changeMemo(before.memo, { ids, rules }, named),
  });
}

/** Replaces inactive policies and assignments by undefined. They are left out only here. */
function* activeOnly<Item extends { readonly isActive: boolean }>(
  changes: ReadonlyMap<string, Item | undefined>,
): Generator<readonly [string, Item | undefined]> {
  for (const [id, item] of changes) yield [id, item?.isActive === true ? item : undefined];
}

function changeRolesByPolicy(
  { rolePolicies, rolesByPolicy }: PolicySnapshot,
  changes: PolicyChanges['rolePolicies'],
): PolicySnapshot['rolesByPolicy'] {
  const changed = new Map<string, readonly RolePolicy[]>();
  const replace = (policyId: string, id: string, added: readonly RolePolicy[]): void => {
    const assigned = changed.get(policyId) ?? rolesByPolicy.get(policyId) ?? [];
    changed.set(policyId, [...assigned.filter((other) => other.id !== id), ...added]);
  };
  for (const [id, before] of [...changes.keys()].map((key) => [key, rolePolicies.get(key)] as const)) {
    if (before !== undefined) replace(before.policyId, id, []);
  }
  for (const [id, after] of activeOnly(changes)) if (after !== undefined) replace(after.policyId, id, [after]);
  return rolesByPolicy.with([...changed].map(([policyId, assigned]) => [policyId, assigned.length === 0 ? undefined : assigned]));
}

/** Replaces the changed policies in the policies of their roles. */
function changeRoles(
  before: PolicySnapshot,
  after: Pick<PolicySnapshot, 'policies' | 'rolesByPolicy'>,
  changed: ReadonlySet<string>,
): PolicySnapshot['byRole'] {
  const changes = new Map<string, Map<string, number | undefined>>();
  const set = (role: string, policyId: string, priority: number | undefined): void => {
    const ofRole = changes.get(role) ?? new Map<string, number | undefined>();
    changes.set(role, ofRole.set(policyId, priority));
  };
  for (const id of changed) {
    for (const { role } of before.rolesByPolicy.get(id) ?? []) set(role, id, undefined);
    if (findPolicy(after.policies, id) === undefined) continue;
    for (const { role, priority } of after.rolesByPolicy.get(id) ?? []) set(role, id, priority);
  }
  const byRole = new Map(before.byRole);
  for (const [role, ofRole] of changes) {
    const assigned = (byRole.get(role) ?? PersistentMap.empty<number>()).with(ofRole);
    if (assigned.size === 0) byRole.delete(role);
    else byRole.set(role, assigned);
  }
  return byRole;
}

function changeNames(before: PolicySnapshot, policies: PolicySnapshot['policies'], changed: Iterable<string>): ReadonlyMap<string, number> {
  const named = new Map(before.named);
  for (const id of changed) {
    countRules(named, policies.get(id), 1);
    countRules(named, before.policies.get(id), -1);
  }
  return named;
}

type Watched = Pick<PolicySnapshot, 'watchCounts' | 'watch'>;

function watchAll(active: readonly Policy[], definitions: Definitions): Watched {
  const watchCounts = new Map<string, number>();
  for (const policy of active) countWatched(watchCounts, policy, { by: 1, definitions });
  return { watchCounts, watch: toWatch(watchCounts) };
}

function changeWatch(before: PolicySnapshot, policies: PolicySnapshot['policies'], changed: Iterable<string>): Watched {
  const { definitions } = before.compileOptions;
  const watchCounts = new Map(before.watchCounts);
  for (const id of changed) {
    countWatched(watchCounts, policies.get(id), { by: 1, definitions });
    countWatched(watchCounts, before.policies.get(id), { by: -1, definitions });
  }
  return { watchCounts, watch: toWatch(watchCounts) };
}

function changeMemo(before: SnapshotMemo, changes: ChangedPolicies, named: PolicySnapshot['named']): SnapshotMemo {
  return Object.freeze({ ...before, buckets: changeBuckets(before.buckets, changes, (resource) => named.has(resource)) });
}

function rulesOf(policies: PolicySnapshot['policies'], id: string): Policy['rules'] {
  return findPolicy(policies, id)?.rules ?? [];
}

/** Finds an active policy, or the built-in policy of damaged assignments. */
export function findPolicy(policies: PolicySnapshot['policies'], id: string): Policy | undefined {
  return policies.get(id) ?? (id === DAMAGED_ASSIGNMENT.id ? DAMAGED_ASSIGNMENT : undefined);
}
