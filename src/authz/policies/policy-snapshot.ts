import { entryOf } from '../../memoize.ts';
import type { Definitions } from '../../resources/index.ts';
import type { Applicable, CompiledRule, RuleReading } from './compiled-rule.ts';
import type { PolicyLimits } from './parse-policy.ts';
import type { Policy, PolicyChanges, PolicyRule, PolicyState, RolePolicy } from './policy.ts';

/**
 * What everybody's decisions depend on as of one epoch. Made by `compilePolicies`, or of the one before by `changePolicies`;
 * asked by `applicableRules`, which is handed what the user is assigned: there may be millions of users.
 *
 * Assignments to roles are indexed at once, rules when somebody to whom they may apply first asks: an epoch lasts until the
 * next change of any policy, and most rules are not asked for in it. What was stored does not change meanwhile, so when a
 * rule is read makes no difference to what it says.
 */
export interface PolicySnapshot {
  readonly epoch: number;
  /** Active policies by id, as stored. */
  readonly policies: ReadonlyMap<string, Policy>;
  /** Active assignments to roles by id, those of inactive policies among them. */
  readonly rolePolicies: ReadonlyMap<string, RolePolicy>;
  /** Role → id of an active policy → assignment priority. */
  readonly byRole: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The resources that active rules name (`*` included). */
  readonly named: ReadonlySet<string>;
  readonly reading: RuleReading;
  readonly memo: SnapshotMemo;
}

/** What was worked out before, filled as requests ask, bounded by what is stored: nothing in it is kept by a name from outside. */
export interface SnapshotMemo {
  /** Each rule that was asked for, parsed. It goes on to the next epoch with the policies that have not changed. */
  readonly rules: WeakMap<PolicyRule, CompiledRule>;
  /** Resource that rules name (or `*`, for all others) → action → what applies. */
  readonly buckets: Map<string, Map<string, Bucket>>;
  /** What users are assigned, joined to the rules of their role: bounded, the oldest goes first. */
  readonly joined: { readonly by: Map<string, Joined>; size: number };
}

/** What applies to users who are assigned the same. */
export interface Joined {
  readonly applicable: Applicable;
  /** Rules and policies kept for it. */
  readonly size: number;
}

/** The rules about one resource and action, in order. */
export interface Bucket {
  /** By role that has policies: ranked by the role's assignments. */
  readonly byRole: Map<string, Applicable>;
  /** Of every other role: none, until a policy assigned to the user joins. */
  readonly ofNoRole: Applicable;
}

/** Compiles the state of one epoch. */
export function compilePolicies({ epoch, ...state }: PolicyState, definitions: Definitions, limits: PolicyLimits): PolicySnapshot {
  return toSnapshot({
    epoch,
    policies: withChanges(new Map(), state.policies.map(byId)),
    rolePolicies: withChanges(new Map(), state.rolePolicies.map(byId)),
    reading: Object.freeze({ definitions, limits }),
    rules: new WeakMap(),
  });
}

/** The snapshot of a later epoch: what was not changed is taken over, with the rules of it that were parsed. */
export function changePolicies(before: PolicySnapshot, { epoch, policies, rolePolicies }: PolicyChanges): PolicySnapshot {
  return toSnapshot({
    epoch,
    policies: withChanges(before.policies, policies),
    rolePolicies: withChanges(before.rolePolicies, rolePolicies),
    reading: before.reading,
    rules: before.memo.rules,
  });
}

interface SnapshotParts extends Pick<PolicySnapshot, 'epoch' | 'policies' | 'rolePolicies' | 'reading'> {
  readonly rules: SnapshotMemo['rules'];
}

function toSnapshot({ rules, ...parts }: SnapshotParts): PolicySnapshot {
  const { policies, rolePolicies } = parts;
  const byRole = new Map<string, Map<string, number>>();
  for (const { role, policyId, priority } of rolePolicies.values()) {
    if (policies.has(policyId)) entryOf(byRole, role, () => new Map<string, number>()).set(policyId, priority);
  }
  const named = new Set<string>();
  for (const policy of policies.values()) for (const rule of policy.rules) if (rule.isActive) named.add(rule.resource);
  return Object.freeze({
    ...parts,
    byRole,
    named,
    memo: Object.freeze({ rules, buckets: new Map(), joined: { by: new Map(), size: 0 } }),
  });
}

interface Switchable {
  readonly id: string;
  readonly isActive: boolean;
}

function byId<Item extends Switchable>(item: Item): readonly [string, Item] {
  return [item.id, item];
}

/** Inactive policies and assignments are left out here and nowhere else. */
function withChanges<Item extends Switchable>(
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
