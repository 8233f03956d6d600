/** Sentences that say what the differences between two versions of a policy mean. */
import { parseConditions, printCondition } from '../../conditions/index.ts';
import { describeValue, type Json, type JsonObject } from '../../operators/index.ts';
import { type PolicyRule, titleOfRule } from './policy.ts';
import type { OrderChange, PassedRules } from './policy-diff-order.ts';

/** The values of a member in two versions. */
interface Values {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** Sentences about the members of a policy. */
export const POLICY_WORDS = {
  name: ({ before, after }: Values) => `the policy is named ${describeValue(after)} instead of ${describeValue(before)}`,
  description: ({ before, after }: Values) => `the description of the policy ${describeText(before, after)}`,
  type: ({ before, after }: Values) => `the policy has type ${after} instead of ${before}`,
  isActive: ({ after }: Values) =>
    after === true ? 'the policy is active: its rules are evaluated' : 'the policy is not active: none of its rules is evaluated',
  priority: ({ before, after }: Values) =>
    `the policy has priority ${after} instead of ${before}: among rules of the same priority, its rules are evaluated ${Number(after) > Number(before) ? 'earlier' : 'later'}`,
  file: ({ before, after }: Values) => describeFile(before, after),
} as const;

/** Sentences about the members of a rule; `rule` is its name. */
export const RULE_WORDS = {
  resource: ({ before, after }: Values, rule: string) =>
    `${rule} applies to ${describeResource(after)}, no longer to ${describeResource(before)}`,
  action: ({ before, after }: Values, rule: string) =>
    `${rule} applies to ${describeAction(after)}, no longer to ${describeAction(before)}`,
  effect: ({ after }: Values, rule: string) =>
    after === 'DENY' ? `${rule} denies instead of allowing` : `${rule} allows instead of denying`,
  description: ({ before, after }: Values, rule: string) => `the description of ${rule} ${describeText(before, after)}`,
  isActive: ({ after }: Values, rule: string) =>
    after === true ? `${rule} is active and is evaluated` : `${rule} is not active and is not evaluated`,
  priority: ({ before, after }: Values, rule: string) => `${rule} has priority ${after} instead of ${before}`,
} as const;

function describeText(before: Json | undefined, after: Json | undefined): string {
  if (after === undefined) return 'is removed';
  return before === undefined ? `is ${describeValue(after)}` : `is ${describeValue(after)} instead of ${describeValue(before)}`;
}

function describeFile(before: Json | undefined, after: Json | undefined): string {
  if (after === undefined) return 'the policy is no longer managed by a file';
  return before === undefined ? `the policy is managed by ${after}` : `the policy is in ${after} instead of ${before}`;
}

function describeResource(resource: Json | undefined): string {
  return resource === '*' ? 'every resource' : `resource ${resource}`;
}

function describeAction(action: Json | undefined): string {
  return action === '*' ? 'every action' : `action ${action}`;
}

/** Returns the name of a rule in sentences. */
export function nameRule(rule: Omit<PolicyRule, 'id' | 'policyId' | 'createdAt'>): string {
  return `rule ${JSON.stringify(titleOfRule(rule))}`;
}

/** Describes a rule that was added or removed. */
export function describeRule(rule: PolicyRule, kind: 'added' | 'removed'): string {
  const { effect, action, resource, conditions, isActive } = rule;
  const verb = effect === 'DENY' ? 'denies' : 'allows';
  const about = `${action === '*' ? 'every action' : action} on ${describeResource(resource)}`;
  if (kind === 'removed') return `${nameRule(rule)} is removed and no longer ${verb} ${about}`;
  const condition = conditions.length === 0 ? '' : ` if ${describeConditions(conditions)}`;
  return `${nameRule(rule)} is added and ${verb} ${about}${condition}${isActive ? '' : ', once it is active'}`;
}

/** Maximum characters of a printed condition. */
const CONDITION_LENGTH = 300;
const NO_LIMIT = Number.POSITIVE_INFINITY;
/** Stored conditions were within the limits when they were written. */
const LIMITS = {
  depth: NO_LIMIT,
  references: NO_LIMIT,
  relatedRecords: NO_LIMIT,
  comparisons: NO_LIMIT,
  listItems: NO_LIMIT,
  textLength: NO_LIMIT,
  expressionLength: NO_LIMIT,
  expressionDepth: NO_LIMIT,
};

/** Prints conditions as explanations do. A condition that can no longer be parsed is printed as JSON. */
export function describeConditions(conditions: readonly JsonObject[]): string {
  const { condition, issues } = parseConditions(conditions, { at: '', expressions: true, limits: LIMITS });
  return issues.length > 0 ? JSON.stringify(conditions).slice(0, CONDITION_LENGTH) : printCondition(condition, CONDITION_LENGTH);
}

/** Describes the order of evaluation that a change of priority has changed. Returns an empty text if it changes no decision. */
export function describeOrder(change: OrderChange | undefined): string {
  if (change === undefined) return '';
  const texts = [describePassed('before', change.nowBefore), describePassed('after', change.nowAfter)].filter((text) => text !== '');
  return texts.length === 0 ? '' : `: it is evaluated ${texts.join(' and ')}`;
}

function describePassed(place: 'before' | 'after', { first, count }: PassedRules): string {
  const more = count > first.length ? [`${count - first.length} more`] : [];
  return count === 0 ? '' : `${place} ${[...first.map(nameRule), ...more].join(', ')}`;
}
