/** Reports records that a role may read or update, but not list. */
import { applicableRules, type PolicyRule } from '../policies/index.ts';
import type { RuleFinding } from './finding.ts';
import { definitionsFor, type LintContext, type LintedRule } from './lint-context.ts';

/**
 * Reports rules that allow reading or updating the records of a resource, if a role of the policy has no rule that allows to list them: its
 * users need the id of each record. Reports the first such rule of each resource. Rules about the record with a certain id, such as the caller's
 * own user, are not reported: nothing has to be listed to find it.
 */
export function lintLists(linted: readonly LintedRule[], context: LintContext): ReadonlyMap<PolicyRule, readonly RuleFinding[]> {
  const candidates = linted.filter((each) => each.policy.isActive && mayBeListed(each));
  const firstOfResource = new Map(candidates.toReversed().map(({ rule }) => [rule.resource, rule]));
  return new Map([...firstOfResource.values()].map((rule) => [rule, lintRule(rule, context)]));
}

function mayBeListed(linted: LintedRule): boolean {
  const { rule, compiled } = linted;
  const isReader = rule.effect === 'ALLOW' && (rule.action === 'read' || rule.action === 'update');
  return isReader && definitionsFor(linted).has(rule.resource) && !compiled.paths.some(({ text }) => text === 'resource.id');
}

function lintRule(rule: PolicyRule, { assignments, index: { snapshot, now } }: LintContext): readonly RuleFinding[] {
  const mayList = (role: string): boolean => {
    const { rules } = applicableRules(snapshot, { role, resource: rule.resource, action: 'list', assignments: [], now });
    return rules.some(({ effect }) => effect === 'ALLOW');
  };
  const found = assignments.roles.find(({ role }) => !mayList(role));
  return found === undefined ? [] : [toFinding(rule, found.role)];
}

function toFinding({ resource, action, conditions }: PolicyRule, role: string): RuleFinding {
  const isConditional = conditions.length > 0;
  const line = `{ "resource": "${resource}", "action": "list"${isConditional ? ', "conditions": […]' : ''} }`;
  return {
    code: 'not-listed',
    member: '',
    detail: `role "${role}" may ${action} records of ${resource}, but no rule allows it to list them`,
    todo: `to allow lists, add the rule ${line}${isConditional ? ' with the conditions of this rule' : ''}`,
  };
}
