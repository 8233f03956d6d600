import type { ConditionTrace } from './condition-words.ts';

/**
 * Returns true if a member of a group decides the answer of the group: an `all` is false because of its false members, an `any` true because of
 * its true ones. In every other case the members with the answer of the group decide it. The member of a `not` always does.
 */
export function decidesGroup(member: Pick<ConditionTrace, 'answer'>, group: Pick<ConditionTrace, 'type' | 'answer'>): boolean {
  return group.type === 'not' || member.answer === group.answer;
}
