import { evaluate, readConditions } from '../src/condition/index.ts';
import { createScope, describePath, type ScopeParts } from '../src/context/index.ts';
import type { Policy, PolicyRule, PolicyState } from '../src/policy/index.ts';
import { LIMITS, NEWSROOM } from './policy-fixtures.ts';

/**
 * The prose of how requests are decided, as directly as code can say it: no index, no memo, no open records, no early end.
 * What is fast must agree with it.
 */
export function decideByTheBook(
  state: PolicyState,
  parts: ScopeParts,
): { readonly allowed: boolean; readonly ruleId?: string; readonly found: boolean } {
  const { principal, resource, action, now } = parts;
  const assignments = [
    ...state.rolePolicies.filter((one) => one.role === principal.role && one.isActive).map((one) => [one.policyId, one.priority] as const),
    ...state.userPolicies
      .filter((one) => one.userId === principal.id && one.isActive && (one.expiresAt === undefined || Date.parse(one.expiresAt) > now))
      .map((one) => [one.policyId, 100] as const),
  ];
  const rankOf = (policy: Policy) => Math.max(...assignments.filter(([id]) => id === policy.id).map(([, priority]) => priority));
  const policies = state.policies.filter((policy) => policy.isActive && assignments.some(([id]) => id === policy.id));
  const rules = policies.flatMap((policy) =>
    policy.rules.map((rule) => ({ rule, order: [-rule.priority, -policy.priority, -rankOf(policy), rule.effect === 'DENY' ? 0 : 1] })),
  );
  const inOrder = rules
    .filter(({ rule }) => rule.isActive && [resource.name, '*'].includes(rule.resource) && [action, '*'].includes(rule.action))
    .sort(
      (a, b) => a.order.map((value, index) => value - (b.order[index] ?? 0)).find((sign) => sign !== 0) ?? (a.rule.id < b.rule.id ? -1 : 1),
    );
  const first = inOrder.find(({ rule }) => fires(rule, parts))?.rule;
  return { allowed: first?.effect === 'ALLOW', ...(first === undefined ? {} : { ruleId: first.id }), found: policies.length > 0 };
}

function fires(rule: PolicyRule, parts: ScopeParts): boolean {
  const reader = { at: '', expressions: true, limits: LIMITS.conditions, describePath: describePath(NEWSROOM, rule.resource) };
  const answers = rule.conditions.map((one) => evaluate(readConditions([one], reader).condition, createScope(parts)));
  return rule.effect === 'ALLOW' ? answers.every((answer) => answer === true) : !answers.includes(false);
}
