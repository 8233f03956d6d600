import type { Definitions } from '../resource/index.ts';
import type { CompiledRule, OrderedRules, RuleReading } from './compiled.ts';
import type { Policy, PolicyRule, PolicyState } from './policy.ts';
import type { PolicyLimits } from './read.ts';

/** An active policy's assignment to one user. */
export interface UserGrant {
  readonly policyId: string;
  /** Milliseconds since 1970; Infinity where it does not expire. */
  readonly expiresAt: number;
}

/**
 * Everything decisions depend on as of one epoch. Made by `compilePolicies`, asked by `applicableRules`.
 *
 * Assignments are indexed at once, rules when somebody to whom they may apply first asks: an epoch lasts until the next
 * change of any policy, and most rules are not asked for in it. What was stored does not change meanwhile, so when a
 * rule is read makes no difference to what it says.
 */
export interface PolicySnapshot {
  readonly epoch: number;
  /** Active policies by id, as stored. */
  readonly policies: ReadonlyMap<string, Policy>;
  readonly byUser: ReadonlyMap<string, readonly UserGrant[]>;
  /** Role → policy id → assignment priority. */
  readonly byRole: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The resources that active rules name (`*` included). */
  readonly named: ReadonlySet<string>;
  readonly reading: RuleReading;
  readonly memo: SnapshotMemo;
}

/** What was worked out before, filled as requests ask, bounded by what is stored: nothing in it is kept by a name from outside. */
export interface SnapshotMemo {
  /** Each rule that was asked for, parsed. */
  readonly rules: Map<PolicyRule, CompiledRule>;
  /** Resource that rules name (or `*`, for all others) → action → what applies. */
  readonly buckets: Map<string, Map<string, Bucket>>;
}

/** The rules about one resource and action, in order. */
export interface Bucket {
  /** By role that has policies: ranked by the role's assignments. */
  readonly byRole: Map<string, OrderedRules>;
  /** By id of an active policy: ranked as where it is assigned to a user. */
  readonly byPolicy: Map<string, OrderedRules>;
}

/** Compiles the state of one epoch. Inactive policies and assignments are left out here and nowhere else. */
export function compilePolicies(state: PolicyState, definitions: Definitions, limits: PolicyLimits): PolicySnapshot {
  const policies = new Map(state.policies.filter((policy) => policy.isActive).map((policy) => [policy.id, policy]));
  const inForce = <Assignment extends { readonly policyId: string; readonly isActive: boolean }>(
    all: readonly Assignment[],
  ): Assignment[] => all.filter((assignment) => assignment.isActive && policies.has(assignment.policyId));

  return Object.freeze({
    epoch: state.epoch,
    policies,
    byUser: mapGroups(inForce(state.userPolicies), ({ userId }) => userId, toUserGrants),
    byRole: mapGroups(
      inForce(state.rolePolicies),
      ({ role }) => role,
      (all) => new Map(all.map((one) => [one.policyId, one.priority])),
    ),
    named: new Set([...policies.values()].flatMap(({ rules }) => rules.filter((rule) => rule.isActive).map((rule) => rule.resource))),
    reading: Object.freeze({ definitions, limits }),
    memo: Object.freeze({ rules: new Map(), buckets: new Map() }),
  });
}

/** By policy: whatever is made of them is the same in whichever order they are stored. */
function toUserGrants(
  assignments: readonly { readonly policyId: string; readonly expiresAt?: string | undefined }[],
): readonly UserGrant[] {
  return assignments
    .map(({ policyId, expiresAt }) => ({
      policyId,
      expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
    }))
    .sort((a, b) => (a.policyId < b.policyId ? -1 : 1));
}

function mapGroups<Item, Group>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  toGroup: (items: readonly Item[]) => Group,
): ReadonlyMap<string, Group> {
  return new Map([...Map.groupBy(items, keyOf)].map(([key, group]) => [key, toGroup(group)]));
}
