import { compileRule, type Policy } from '../policies/index.ts';
import type { Advice, Remark } from './finding.ts';
import { adviseOnAssignments } from './lint-assignments.ts';
import { remarkOnConditions } from './lint-conditions.ts';
import { remarkOnMissing } from './lint-missing.ts';
import { remarkOnOrder } from './lint-order.ts';
import type { Subject, Surroundings } from './lint-subject.ts';

/** All advice on one policy as stored, its active rules in the order they are written. */
export function adviseOn(policy: Policy, around: Surroundings): readonly Advice[] {
  const { reading } = around.standings.snapshot;
  const subjects = policy.rules.flatMap((rule, index): readonly Subject[] =>
    rule.isActive ? [{ policy, rule, index, compiled: compileRule(policy, rule, reading), around }] : [],
  );
  const onOrder = remarkOnOrder(policy, subjects, around);
  return [
    ...adviseOnWhole(policy),
    ...adviseOnAssignments(policy, around.assignments, { now: around.standings.now, definitions: reading.definitions }),
    ...subjects.flatMap((subject) =>
      [...(onOrder.get(subject.rule) ?? []), ...remarkOnConditions(subject), ...remarkOnMissing(subject)].map((remark) =>
        toAdvice(subject, remark),
      ),
    ),
  ];
}

function adviseOnWhole({ id, name, rules }: Policy): readonly Advice[] {
  if (rules.length > 0) return [];
  const detail = 'a policy without rules allows nothing and denies nothing';
  return [{ code: 'empty', detail, todo: 'give it rules, or delete it', policy: { id, name }, path: 'rules' }];
}

function toAdvice({ policy: { id, name }, rule, index }: Subject, { code, detail, todo, member, other }: Remark): Advice {
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
