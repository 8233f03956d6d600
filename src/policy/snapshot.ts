import { type Condition, conditionPaths, readConditions } from '../condition/index.ts';
import { describePath } from '../context/index.ts';
import type { Definitions } from '../resource/index.ts';
import type { CompiledRule, OrderedRules } from './compiled.ts';
import type { Policy, PolicyRule, PolicyState } from './policy.ts';
import type { PolicyLimits } from './read.ts';

/** An active policy's assignment to one user. */
export interface UserGrant {
  readonly policyId: string;
  /** Milliseconds since 1970; Infinity where it does not expire. */
  readonly expiresAt: number;
}

/** Rules by the id of their policy. */
export type RulesByPolicy = ReadonlyMap<string, readonly CompiledRule[]>;

/** Everything decisions depend on as of one epoch, parsed and indexed. Made by `compilePolicies`, asked by `applicableRules`. */
export interface PolicySnapshot {
  readonly epoch: number;
  /** Active rules of active policies, by the resource they name (`*` included). */
  readonly rules: ReadonlyMap<string, readonly CompiledRule[]>;
  readonly byUser: ReadonlyMap<string, readonly UserGrant[]>;
  /** Role → policy id → assignment priority. */
  readonly byRole: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /**
   * What was worked out before, filled as requests ask. It holds at most one list for each action,
   * resource that rules name and role that has policies.
   */
  readonly memo: {
    readonly buckets: Map<string, RulesByPolicy>;
    readonly byRole: Map<string, OrderedRules>;
  };
}

/** Compiles the state of one epoch. Inactive policies, rules and assignments are left out here and nowhere else. */
export function compilePolicies(state: PolicyState, definitions: Definitions, limits: PolicyLimits): PolicySnapshot {
  const active = state.policies.filter((policy) => policy.isActive);
  const compiled = active.flatMap((policy) => compileRules(policy, definitions, limits));
  const ids = new Set(active.map((policy) => policy.id));
  const inForce = <Assignment extends { readonly policyId: string; readonly isActive: boolean }>(
    all: readonly Assignment[],
  ): Assignment[] => all.filter((assignment) => assignment.isActive && ids.has(assignment.policyId));

  return Object.freeze({
    epoch: state.epoch,
    rules: Map.groupBy(compiled, (rule) => rule.resource),
    byUser: mapGroups(inForce(state.userPolicies), ({ userId }) => userId, toUserGrants),
    byRole: mapGroups(
      inForce(state.rolePolicies),
      ({ role }) => role,
      (all) => new Map(all.map((one) => [one.policyId, one.priority])),
    ),
    memo: { buckets: new Map(), byRole: new Map() },
  });
}

/** The active rules of one policy, parsed, whether the policy itself is active or not. */
export function compileRules(policy: Policy, definitions: Definitions, limits: PolicyLimits): readonly CompiledRule[] {
  return policy.rules
    .filter((rule) => rule.isActive)
    .map((rule) => compileRule(policy, rule, readStored(policy, rule, { definitions, limits })));
}

function compileRule(policy: Policy, rule: PolicyRule, condition: Condition): CompiledRule {
  return Object.freeze({
    id: rule.id,
    resource: rule.resource,
    action: rule.action,
    effect: rule.effect,
    priority: rule.priority,
    description: rule.description,
    policy: Object.freeze({ id: policy.id, name: policy.name, type: policy.type, priority: policy.priority }),
    condition,
    paths: Object.freeze(conditionPaths(condition)),
  });
}

/**
 * What is stored was checked when it was written, yet definitions change. A part that no longer means anything reads as
 * constant unknown, so that a DENY fires and an ALLOW does not; the rule itself is never dropped.
 */
function readStored(
  policy: Policy,
  rule: PolicyRule,
  parts: { readonly definitions: Definitions; readonly limits: PolicyLimits },
): Condition {
  return readConditions(rule.conditions, {
    at: 'conditions',
    expressions: policy.type === 'CUSTOM',
    limits: parts.limits.conditions,
    describePath: describePath(parts.definitions, rule.resource),
  }).condition;
}

function toUserGrants(
  assignments: readonly { readonly policyId: string; readonly expiresAt?: string | undefined }[],
): readonly UserGrant[] {
  return assignments.map(({ policyId, expiresAt }) => ({
    policyId,
    expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
  }));
}

function mapGroups<Item, Group>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  toGroup: (items: readonly Item[]) => Group,
): ReadonlyMap<string, Group> {
  return new Map([...Map.groupBy(items, keyOf)].map(([key, group]) => [key, toGroup(group)]));
}
