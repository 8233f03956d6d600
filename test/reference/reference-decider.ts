import type { Policy, PolicyRule } from '../../src/authz/policies/index.ts';
import type { WholeState } from '../policy-fixtures.ts';
import type { Facts } from './reference-facts.ts';
import { keptTruthOf } from './reference-results.ts';

/** A request to decide, without the values that conditions read. */
export interface ReferenceRequest {
  /** Undefined for `anon`. */
  readonly userId: string | undefined;
  readonly role: string;
  readonly resource: string;
  readonly action: string;
  /** Milliseconds since 1970. */
  readonly now: number;
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
 * Returns a function that decides a request as directly as the guide describes it: without indexes or unknown records, and
 * with nothing from `src/` but types. The real decision must agree with it.
 */
export function createReferenceDecider(state: WholeState, request: ReferenceRequest): (facts: Facts) => ReferenceDecision {
  const { found, inOrder } = rulesByReference(state, request);
  return (facts) => {
    const first = inOrder.find((rule) => fires(rule, facts));
    return { allowed: first?.effect === 'ALLOW', ...(first === undefined ? {} : { ruleId: first.id }), found };
  };
}

/** The rules for a request, in the order in which they are evaluated; `found` as in a decision. */
interface RulesInOrder extends Pick<ReferenceDecision, 'found'> {
  readonly inOrder: readonly PolicyRule[];
}

function rulesByReference(state: WholeState, { userId, role, resource, action, now }: ReferenceRequest): RulesInOrder {
  const assignments = [
    ...state.rolePolicies.filter((one) => one.role === role && one.isActive).map((one) => [one.policyId, one.priority] as const),
    ...state.userPolicies
      .filter((one) => one.userId === userId && one.isActive && (one.expiresAt === undefined || Date.parse(one.expiresAt) > now))
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
  return { inOrder: inOrder.map(({ rule }) => rule), found: policies.length > 0 };
}

function fires({ effect, conditions }: PolicyRule, facts: Facts): boolean {
  if (effect === 'ALLOW') return conditions.every((one) => keptTruthOf(one, facts) === true);
  return conditions.every((one) => keptTruthOf(one, facts) !== false);
}
