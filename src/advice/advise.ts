import type { Comparison } from '../condition/index.ts';
import { compileRule, type Policy } from '../policy/index.ts';
import type { Resource } from '../resource/index.ts';
import type { Advice, Remark } from './advice.ts';
import { type ActiveAssignments, adviseOnAssignments } from './assignments.ts';
import { remarkOnConditions } from './conditions.ts';
import { remarkOnMissing } from './missing.ts';
import { remarkOnOrder } from './order.ts';
import type { Standings } from './standing.ts';
import type { Subject } from './subject.ts';

/** What stands around a policy: everything that advice on it goes by. */
export interface Surroundings {
  /** All policies in force, the one that advice is on included where it is active. */
  readonly standings: Standings;
  /** Of the policy that advice is on. */
  readonly assignments: ActiveAssignments;
  /** Which attributes active users have. */
  readonly users: UserValues;
  /** Whether the database can answer a comparison of a resource's field with a literal. */
  isSaidInSql(comparison: Comparison, resource: Resource): boolean;
  /**
   * Of two rules, advice is on the one that goes second, so that a list of all advice says it once. True: on both, because
   * this is the only policy that is looked at.
   */
  readonly alone?: boolean;
}

/** How many of the active users that were looked at have a value, by field of User. */
export interface UserValues {
  readonly looked: number;
  /** Whether those are all active users. */
  readonly all: boolean;
  readonly having: ReadonlyMap<string, number>;
}

/** All advice on one policy as stored, its active rules in the order they are written. */
export function adviseOn(policy: Policy, around: Surroundings): readonly Advice[] {
  const { reading } = around.standings.snapshot;
  const subjects = policy.rules.flatMap((rule, index): readonly Subject[] =>
    rule.isActive ? [{ policy, rule, index, compiled: compileRule(policy, rule, reading), around }] : [],
  );
  const onOrder = remarkOnOrder(policy, subjects, around);
  return [
    ...adviseOnWhole(policy),
    ...adviseOnAssignments(policy, { ...around, now: around.standings.now, definitions: reading.definitions }),
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
