import type { Policy, PolicyRule } from '../../src/authz/policies/index.ts';
import type { WholeState } from '../policy-fixtures.ts';
import { truthOf } from './reference-conditions.ts';
import type { Facts } from './reference-facts.ts';

/** A request to decide. */
export interface ReferenceRequest {
  /** Undefined for `anon`. */
  readonly userId: string | undefined;
  readonly role: string;
  readonly resource: string;
  readonly action: string;
  /** The values that conditions read. */
  readonly facts: Facts;
}

/** The expected decision. */
export interface ReferenceDecision {
  readonly allowed: boolean;
  /** The deciding rule. */
  readonly ruleId?: string;
  /** True if any policy applies to the user or the role. */
  readonly found: boolean;
}

/**
 * Decides a request as directly as the guide describes it: without indexes, memos, unknown records or an early end, and
 * with nothing from `src/` but types. The real decision must agree with it.
 */
export function decideByReference(state: WholeState, { userId, role, resource, action, facts }: ReferenceRequest): ReferenceDecision {
  const assignments = [
    ...state.rolePolicies.filter((one) => one.role === role && one.isActive).map((one) => [one.policyId, one.priority] as const),
    ...state.userPolicies
      .filter((one) => one.userId === userId && one.isActive && (one.expiresAt === undefined || Date.parse(one.expiresAt) > facts.now))
      .map((one) => [one.policyId, 100] as const),
  ];
  const rankOf = (policy: Policy) => Math.max(...assignments.filter(([id]) => id === policy.id).map(([, priority]) => priority));
  const policies = state.policies.filter((policy) => policy.isActive && assignments.some(([id]) => id === policy.id));
  const rules = policies.flatMap((policy) =>
    policy.rules.map((rule) => ({ rule, order: [-rule.priority, -policy.priority, -rankOf(policy), rule.effect === 'DENY' ? 0 : 1] })),
  );
  const inOrder = rules
    .filter(({ rule }) => rule.isActive && [resource, '*'].includes(rule.resource) && [action, '*'].includes(rule.action))
    .sort(
      (a, b) => a.order.map((value, index) => value - (b.order[index] ?? 0)).find((sign) => sign !== 0) ?? (a.rule.id < b.rule.id ? -1 : 1),
    );
  const first = inOrder.find(({ rule }) => fires(rule, facts))?.rule;
  return { allowed: first?.effect === 'ALLOW', ...(first === undefined ? {} : { ruleId: first.id }), found: policies.length > 0 };
}

function fires(rule: PolicyRule, facts: Facts): boolean {
  const answers = rule.conditions.map((one) => truthOf(one, facts));
  return rule.effect === 'ALLOW' ? answers.every((answer) => answer === true) : !answers.includes(false);
}
