import { getOrCreate } from '../../memoize.ts';
import type { Definitions } from '../../resources/index.ts';
import type { ApplicableRules, CompiledRule, CompileOptions } from './compiled-rule.ts';
import { DAMAGED_ASSIGNMENT } from './damaged-policy.ts';
import type { PolicyLimits } from './parse-policy.ts';
import type { DamagedRow, Policy, PolicyChanges, PolicyRule, PolicyState, RolePolicy } from './policy.ts';

/**
 * The policies and role assignments of one revision, indexed for `applicableRules`. Created by `compilePolicies`, or from the snapshot of an
 * earlier revision by `changePolicies`. User assignments are not part of it, because there may be millions of users.
 *
 * A rule is compiled when a request first needs it: most rules are not needed before the next change of a policy. Stored rules do not change
 * within a revision, so late compilation gives the same result.
 */
export interface PolicySnapshot {
  readonly revision: number;
  /** Active policies by id, as stored. */
  readonly policies: ReadonlyMap<string, Policy>;
  /** Active role assignments by id, including those of inactive policies. */
  readonly rolePolicies: ReadonlyMap<string, RolePolicy>;
  /** Role → id of an active policy → priority of the assignment. */
  readonly byRole: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Resources that active rules name, including `*`. */
  readonly named: ReadonlySet<string>;
  /** The damaged rows among the stored policies and role assignments. */
  readonly damaged: readonly DamagedRow[];
  readonly compileOptions: CompileOptions;
  readonly memo: SnapshotMemo;
}

/** Cached results, filled by requests. Bounded by the number of stored rules: names from requests are never keys. */
export interface SnapshotMemo {
  /** Compiled rules. Rules of unchanged policies are reused in the next snapshot. */
  readonly rules: WeakMap<PolicyRule, CompiledRule>;
  /** Resource that rules name (or `*` for all others) → action → applicable rules. */
  readonly buckets: Map<string, Map<string, Bucket>>;
  /** Rules of users with assignments of their own, merged with those of the role. Bounded; the oldest entry is removed first. */
  readonly merged: { readonly entries: Map<string, MergedRules>; size: number };
  /** The results of the snapshot before, from which `buckets` is filled; undefined if there is none. */
  readonly inherited: InheritedRules | undefined;
}

/** The results of an earlier snapshot, and the policies whose rules or assignments to roles have changed since. */
export interface InheritedRules {
  readonly buckets: SnapshotMemo['buckets'];
  readonly changed: ReadonlySet<string>;
}

/** The rules of all users with the same role and assignments. */
export interface MergedRules {
  readonly applicable: ApplicableRules;
  /** Number of rules and policies in the entry. */
  readonly size: number;
}

/** The rules for one resource and action, in order. */
export interface Bucket {
  /** Rules by role, for roles with policies. */
  readonly byRole: Map<string, ApplicableRules>;
  /** The result for every role without policies: no rules. */
  readonly withoutRole: ApplicableRules;
}

/** Creates the snapshot of a stored state. */
export function compilePolicies({ revision, ...state }: PolicyState, definitions: Definitions, limits: PolicyLimits): PolicySnapshot {
  return toSnapshot({
    revision,
    damaged: state.damaged ?? [],
    policies: withChanges(new Map(), state.policies.map(byId)),
    rolePolicies: withChanges(new Map(), state.rolePolicies.map(byId)),
    compileOptions: Object.freeze({ definitions, limits }),
    rules: new WeakMap(),
    inherited: undefined,
  });
}

/**
 * Creates the snapshot of a later revision. Unchanged policies are reused with their compiled rules and with the rules selected from them,
 * because a change of one policy must not cost the time of ten thousand.
 * The earlier snapshot must have no damaged rows, because changes do not name the policies that take their place.
 */
export function changePolicies(before: PolicySnapshot, { revision, policies, rolePolicies }: PolicyChanges): PolicySnapshot {
  const changed = new Set(policies.keys());
  for (const [id, after] of rolePolicies) {
    for (const assignment of [before.rolePolicies.get(id), after]) if (assignment !== undefined) changed.add(assignment.policyId);
  }
  const after = withChanges(before.policies, policies);
  const keepsRoles = rolePolicies.size === 0 && [...policies.keys()].every((id) => before.policies.has(id) === after.has(id));
  const keepsNames = [...policies.keys()].every((id) => namesOf(before.policies.get(id)) === namesOf(after.get(id)));
  return toSnapshot({
    revision,
    damaged: before.damaged,
    policies: after,
    rolePolicies: rolePolicies.size === 0 ? before.rolePolicies : withChanges(before.rolePolicies, rolePolicies),
    compileOptions: before.compileOptions,
    rules: before.memo.rules,
    inherited: { buckets: before.memo.buckets, changed },
    ...(keepsRoles && { byRole: before.byRole }),
    ...(keepsNames && { named: before.named }),
  });
}

/** Returns the resources that the active rules of a policy name, as a text to compare. */
function namesOf(policy: Policy | undefined): string {
  const names = (policy?.rules ?? []).filter(({ isActive }) => isActive).map(({ resource }) => resource);
  return [...new Set(names)].sort().join(' ');
}

interface SnapshotInput extends Pick<PolicySnapshot, 'revision' | 'policies' | 'rolePolicies' | 'damaged' | 'compileOptions'> {
  readonly rules: SnapshotMemo['rules'];
  readonly inherited: SnapshotMemo['inherited'];
  /** The indexes of the snapshot before, if the changes do not concern them. */
  readonly byRole?: PolicySnapshot['byRole'];
  readonly named?: PolicySnapshot['named'];
}

function toSnapshot({ rules, inherited, byRole, named, ...state }: SnapshotInput): PolicySnapshot {
  return Object.freeze({
    ...state,
    byRole: byRole ?? indexByRole(state),
    named: named ?? collectNames(state),
    memo: Object.freeze({ rules, buckets: new Map(), merged: { entries: new Map(), size: 0 }, inherited }),
  });
}

function indexByRole({ policies, rolePolicies }: Pick<PolicySnapshot, 'policies' | 'rolePolicies'>): PolicySnapshot['byRole'] {
  const byRole = new Map<string, Map<string, number>>();
  for (const { role, policyId, priority } of rolePolicies.values()) {
    if (findPolicy(policies, policyId) !== undefined) getOrCreate(byRole, role, () => new Map<string, number>()).set(policyId, priority);
  }
  return byRole;
}

function collectNames({ policies }: Pick<PolicySnapshot, 'policies'>): ReadonlySet<string> {
  const named = new Set<string>();
  for (const policy of policies.values()) for (const rule of policy.rules) if (rule.isActive) named.add(rule.resource);
  return named;
}

/** Finds an active policy, or the built-in policy of damaged assignments. */
export function findPolicy(policies: ReadonlyMap<string, Policy>, id: string): Policy | undefined {
  return policies.get(id) ?? (id === DAMAGED_ASSIGNMENT.id ? DAMAGED_ASSIGNMENT : undefined);
}

interface Activatable {
  readonly id: string;
  readonly isActive: boolean;
}

function byId<Item extends Activatable>(item: Item): readonly [string, Item] {
  return [item.id, item];
}

/** Returns the active items after the changes. Inactive policies and assignments are left out only here. */
function withChanges<Item extends Activatable>(
  before: ReadonlyMap<string, Item>,
  changes: Iterable<readonly [string, Item | undefined]>,
): ReadonlyMap<string, Item> {
  const after = new Map(before);
  for (const [id, item] of changes) {
    if (item?.isActive === true) after.set(id, item);
    else after.delete(id);
  }
  return after;
}
