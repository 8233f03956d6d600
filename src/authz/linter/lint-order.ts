import { DEFAULT_PRIORITY, type Policy, type PolicyRule, titleOfRule } from '../policies/index.ts';
import { areDisjoint } from './condition-analysis.ts';
import type { Finding, RuleFinding } from './finding.ts';
import { isExpired } from './lint-assignments.ts';
import { type ActiveAssignments, definitionsFor, type LintContext, type LintedRule } from './lint-context.ts';
import { type IndexedRule, type RuleIndex, toIndexedRule } from './rule-groups.ts';

/** Maximum number of conflicts that are reported for one rule. */
const MAX_CONFLICTS = 3;
/** Maximum number of rules of the other effect that are compared with one rule. */
const MAX_COMPARED = 50;
/** Maximum number of rules of a single policy that are compared with all rules of a role one by one. */
const MAX_SCANNED = 5;
/** Maximum number of users that are examined one by one. A policy assigned to more users is not compared with other policies. */
const MAX_USERS = 200;

/**
 * Compares the rules of a policy with each other and with the rules of other policies. Returns findings by rule: the rule never fires, is
 * redundant, duplicates another rule, or conflicts with a rule of the other effect and the same priorities.
 */
export function lintOrder(
  policy: Policy,
  linted: readonly LintedRule[],
  context: LintContext,
): ReadonlyMap<PolicyRule, readonly RuleFinding[]> {
  const own: Assignee = { index: context.index.ofPolicy(policy), priority: DEFAULT_PRIORITY };
  const assignees = assigneesOf(policy, context);
  const shadowing = new Map(linted.map(({ rule }) => [rule.id, findShadowing(policy, rule, { own, assignees })]));
  const isShadowed = (rule: PolicyRule): boolean => (shadowing.get(rule.id)?.length ?? 0) > 0;
  return new Map(
    linted.map((each) => {
      const found = shadowing.get(each.rule.id) ?? [];
      const first = found.find(({ stored }) => stored.effect !== each.rule.effect) ?? found[0];
      if (first !== undefined) return [each.rule, [toShadowed(each, first)]];
      const all = [own, ...(assignees ?? [])];
      return [each.rule, [...lintDuplicates(each, all), ...lintConflicts(each, all, isShadowed)]];
    }),
  );
}

/** A role or user that a policy is assigned to: the rules that apply to it, and the priority of the assignment. */
interface Assignee {
  readonly index: RuleIndex;
  readonly priority: number;
}

/**
 * Returns every role and user that an active policy is assigned to; undefined if there are none, or too many. The policies of a user's role are
 * not part of the user's rules: they are examined with the role.
 */
function assigneesOf(
  policy: Policy,
  { index, assignments, assignmentsOf, isSingle = false }: LintContext,
): readonly Assignee[] | undefined {
  const users = usersToCompare(policy, assignments, index.now);
  if (users === undefined || assignments.roles.length + users.length === 0) return undefined;
  const isScanned = isSingle && policy.rules.length <= MAX_SCANNED;
  return [
    ...assignments.roles.map(({ role, priority }) => ({ index: isScanned ? index.scanRole(role) : index.ofRole(role), priority })),
    ...users.map((userId) => ({ index: index.ofUser(userId, assignmentsOf(userId)), priority: DEFAULT_PRIORITY })),
  ];
}

/**
 * Returns the users whose other assignments the linter needs; undefined if the policy is inactive or has too many users, and is therefore
 * compared with no other policy.
 */
export function usersToCompare(policy: Policy, { users, isComplete }: ActiveAssignments, now: number): readonly string[] | undefined {
  const current = users.filter((assignment) => !isExpired(assignment, now));
  return policy.isActive && isComplete && current.length <= MAX_USERS ? current.map(({ userId }) => userId) : undefined;
}

interface Assignees {
  readonly own: Assignee;
  readonly assignees: readonly Assignee[] | undefined;
}

/** Returns the rules that prevent a rule from ever firing: one of its own policy, or one for every assignee. Empty if the rule may fire. */
function findShadowing(policy: Policy, rule: PolicyRule, { own, assignees }: Assignees): readonly IndexedRule[] {
  const shadowingIn = ({ index, priority }: Assignee) => index.shadowing(toIndexedRule(policy, rule, priority));
  const inOwn = shadowingIn(own);
  if (inOwn !== undefined) return [inOwn];
  const found: IndexedRule[] = [];
  for (const assignee of assignees ?? []) {
    const shadowing = shadowingIn(assignee);
    if (shadowing === undefined) return [];
    found.push(shadowing);
  }
  return found;
}

function toShadowed({ policy, rule }: LintedRule, shadowing: IndexedRule): RuleFinding {
  const { effect, priority } = shadowing.stored;
  const reason = `${nameOf(shadowing)} has no conditions and always comes before this ${rule.effect}`;
  const finding = { member: '', other: toOther(shadowing) };
  // A rule of another policy may be a temporary lock. In that case, the rules below it should not be deleted.
  const premise = shadowing.policy.id === policy.id ? '' : 'if that rule is permanent: ';
  if (effect !== rule.effect) {
    const todo = `${premise}delete this rule, give it a higher priority than ${priority}, or add conditions to the ${effect}`;
    return { ...finding, code: 'never-fires', detail: `the rule never fires: ${reason}`, todo };
  }
  if (isSame(rule, shadowing.stored)) return { ...finding, ...duplicateOf(shadowing) };
  return { ...finding, code: 'redundant', detail: `the rule is redundant: ${reason}`, todo: `${premise}delete this rule` };
}

/** Returns true if `rule` equals `other`, a rule with the same effect and without conditions. */
function isSame(rule: PolicyRule, other: PolicyRule): boolean {
  return rule.conditions.length === 0 && rule.resource === other.resource && rule.action === other.action;
}

function duplicateOf(other: IndexedRule): Pick<RuleFinding, 'code' | 'detail' | 'todo'> {
  return {
    code: 'duplicate',
    detail: `${nameOf(other)} has the same resource, action, effect and conditions`,
    todo: 'keep one of the two',
  };
}

function lintDuplicates({ policy, rule, context }: LintedRule, assignees: readonly Assignee[]): readonly RuleFinding[] {
  for (const { index, priority } of assignees) {
    const [first, second] = index.duplicates(toIndexedRule(policy, rule, priority));
    const isFirst = first === undefined || first.stored.id === rule.id;
    const other = isFirst ? second : first;
    // Of two rules in one policy, only the second is reported.
    const isReported = !isFirst || (context.isSingle === true && other?.policy.id !== policy.id);
    if (other !== undefined && isReported) return [{ ...duplicateOf(other), member: '', other: toOther(other) }];
  }
  return [];
}

/** Reports conflicts for the ALLOW, because the DENY wins; if only one policy is linted, also for the DENY. */
function lintConflicts(
  linted: LintedRule,
  assignees: readonly Assignee[],
  isShadowed: (rule: PolicyRule) => boolean,
): readonly RuleFinding[] {
  const { policy, rule, context } = linted;
  const found = new Map<string, RuleFinding>();
  let compared = 0;
  for (const { index, priority } of assignees) {
    const indexed = toIndexedRule(policy, rule, priority);
    if (index.shadowing(indexed) !== undefined) continue;
    for (const other of index.opposing(indexed)) {
      if (found.size === MAX_CONFLICTS || compared++ === MAX_COMPARED) return [...found.values()];
      const isReported = rule.effect === 'ALLOW' || (context.isSingle === true && other.policy.id !== policy.id);
      if (!isReported || found.has(other.stored.id) || index.shadowing(other) !== undefined || isShadowed(other.stored)) continue;
      if (!neverFireTogether(linted, other)) found.set(other.stored.id, toConflict(rule, other));
    }
  }
  return [...found.values()];
}

function neverFireTogether(linted: LintedRule, other: IndexedRule): boolean {
  const { compiled, context } = linted;
  const known = { definitions: definitionsFor(linted), now: context.index.now };
  const compiledOther = context.index.compiled(other);
  return compiled.effect === 'ALLOW' ? areDisjoint(compiled, compiledOther, known) : areDisjoint(compiledOther, compiled, known);
}

function toConflict(rule: PolicyRule, other: IndexedRule): RuleFinding {
  return {
    code: 'conflict',
    member: '',
    detail: `${nameOf(other)} is a ${other.stored.effect} with the same priorities as this ${rule.effect}: if both fire, the DENY wins`,
    todo: 'give one of the two a higher priority',
    other: toOther(other),
  };
}

function nameOf({ stored, policy }: IndexedRule): string {
  return `rule "${titleOfRule(stored)}" of policy "${policy.name}"`;
}

function toOther({ stored: { id, description }, policy }: IndexedRule): NonNullable<Finding['other']> {
  return { rule: { id, description }, policy: { id: policy.id, name: policy.name } };
}
