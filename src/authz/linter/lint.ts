import { compileRule, type Policy } from '../policies/index.ts';
import type { Finding, RuleFinding } from './finding.ts';
import { lintAssignments } from './lint-assignments.ts';
import { lintConditions } from './lint-conditions.ts';
import { lintMissing } from './lint-missing.ts';
import { lintOrder } from './lint-order.ts';
import type { LintContext, LintedRule } from './lint-subject.ts';

/** All advice on one policy as stored, its active rules in the order they are written. */
export function lintPolicy(policy: Policy, around: LintContext): readonly Finding[] {
  const { compileOptions } = around.standings.snapshot;
  const subjects = policy.rules.flatMap((rule, index): readonly LintedRule[] =>
    rule.isActive ? [{ policy, rule, index, compiled: compileRule(policy, rule, compileOptions), around }] : [],
  );
  const onOrder = lintOrder(policy, subjects, around);
  return [
    ...adviseOnWhole(policy),
    ...lintAssignments(policy, around.assignments, { now: around.standings.now, definitions: compileOptions.definitions }),
    ...subjects.flatMap((subject) =>
      [...(onOrder.get(subject.rule) ?? []), ...lintConditions(subject), ...lintMissing(subject)].map((remark) =>
        toAdvice(subject, remark),
      ),
    ),
  ];
}

function adviseOnWhole({ id, name, rules }: Policy): readonly Finding[] {
  if (rules.length > 0) return [];
  const detail = 'a policy without rules allows nothing and denies nothing';
  return [{ code: 'empty', detail, todo: 'give it rules, or delete it', policy: { id, name }, path: 'rules' }];
}

function toAdvice({ policy: { id, name }, rule, index }: LintedRule, { code, detail, todo, member, other }: RuleFinding): Finding {
  return {
    code,
    detail,
    todo,
    policy: { id, name },
    rule: { id: rule.id, description: rule.description },
    path: member === '' ? `rules.${index}` : `rules.${index}.${member}`,
    ...(other !== undefined && { other }),
  };
}
