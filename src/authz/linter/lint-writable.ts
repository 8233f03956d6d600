/** Reports conditions on values that the same users may write: members can then make themselves editors. */
import type { Comparison, Condition, Path, Related } from '../../conditions/index.ts';
import { relatedPaths } from '../../conditions/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Resource } from '../../resources/index.ts';
import { coversResource, type Policy, type PolicyRule, type PolicySnapshot, titleOfRule } from '../policies/index.ts';
import type { RuleFinding } from './finding.ts';
import { definitionsFor, type LintedRule } from './lint-context.ts';

/** Maximum number of policies of a role that are searched for rules that allow writing. */
const MAX_POLICIES = 200;
/** Maximum number of findings about one rule. */
const MAX_FINDINGS = 5;

/**
 * Reports conditions of an ALLOW rule on fields of the user, and on related records of the user, that every user of a role may write by another rule of
 * the role: a rule without conditions, or one on the user's own records. If a DENY of the role covers the same writes, nothing is reported.
 */
export function lintWritable(linted: LintedRule): readonly RuleFinding[] {
  const { rule, compiled, context } = linted;
  if (rule.effect !== 'ALLOW') return [];
  const roles = context.assignments.roles.filter(({ role }) => role !== 'admin').map(({ role }) => role);
  const found = roles.flatMap((role): readonly RuleFinding[] => {
    const rules = rulesOf(role, context.index.snapshot);
    return rules.some((other) => allows(other, rule))
      ? []
      : [
          ...compiled.paths.flatMap((path) => lintUserField(path, { linted, role, rules })),
          ...compiled.related.flatMap((related) => lintRelatedRecords(related, { linted, role, rules })),
        ];
  });
  return found.slice(0, MAX_FINDINGS);
}

/** An active rule with its policy. */
interface RoleRule {
  readonly rule: PolicyRule;
  readonly policy: Policy;
}

/** The rules of a role to which the linted rule is assigned. */
interface RoleRules {
  readonly linted: LintedRule;
  readonly role: string;
  readonly rules: readonly RoleRule[];
}

/** Returns the active rules of a role; none if the role has too many policies. */
function rulesOf(role: string, { byRole, policies }: PolicySnapshot): readonly RoleRule[] {
  const assigned = byRole.get(role);
  if (assigned === undefined || assigned.size > MAX_POLICIES) return [];
  return [...assigned.entries()].flatMap(([policyId]) => {
    const policy = policies.get(policyId);
    return policy?.rules.filter(({ isActive }) => isActive).map((rule) => ({ rule, policy })) ?? [];
  });
}

/** Returns true if a rule without conditions allows everything that the linted rule allows: its conditions then do not matter. */
function allows({ rule }: RoleRule, linted: PolicyRule): boolean {
  const covers = coversResource(rule.resource, linted.resource) && (rule.action === linted.action || rule.action === '*');
  return rule.effect === 'ALLOW' && rule.conditions.length === 0 && covers;
}

function lintUserField({ group, keys }: Path, within: RoleRules): readonly RuleFinding[] {
  const user = definitionsFor(within.linted).get('User');
  const field = group === 'user' ? user?.fields.get(keys[0] ?? '') : undefined;
  if (user === undefined || field === undefined || field.guarded || field.readOnly || field.immutable || field.writeOnly) return [];
  const writer = findWriter(user, { ...within, actions: ['update'], owners: ['id'] });
  return writer === undefined ? [] : [toWritable(`"user.${field.name}"`, writer, within)];
}

function lintRelatedRecords(related: Related, within: RoleRules): readonly RuleFinding[] {
  const resource = definitionsFor(within.linted).get(related.resource);
  const owners = ownersOf(related);
  // A bound from above is not met by more records, and records that are not linked with the user give the user nothing.
  if (resource === undefined || owners.length === 0 || related.atLeast === undefined) return [];
  const isSet = ([name = '']: readonly string[]): boolean => resource.fields.get(name)?.readOnly === false;
  if (!relatedPaths(related).every(isSet)) return [];
  const writer = findWriter(resource, { ...within, actions: ['create', 'update'], owners });
  return writer === undefined ? [] : [toWritable(`records of ${resource.name}`, writer, within)];
}

/** Returns the fields of the related records that equal the id of the user. */
function ownersOf({ as, on, where }: Related): readonly string[] {
  const parts: readonly Condition[] = where.type === 'all' ? where.of : [where];
  const equalities = parts.filter((part): part is Comparison => part.type === 'comparison' && part.operator === 'eq');
  return [...on, ...equalities].flatMap(({ path, operand }) => {
    if (operand.type !== 'reference') return [];
    const [own, other] = path.text === 'user.id' ? [operand.path, path] : [path, operand.path];
    const [alias, field = '', ...more] = own.keys;
    return other.text === 'user.id' && own.group === 'related' && alias === as && more.length === 0 ? [field] : [];
  });
}

/** The writes that are searched, and the fields that contain the id of the owner of a record. */
interface Writes extends RoleRules {
  readonly actions: readonly string[];
  readonly owners: readonly string[];
}

/** Returns the first rule by which every user of the role may write records, or their own records. */
function findWriter({ name }: Resource, { rules, actions, owners }: Writes): RoleRule | undefined {
  for (const action of actions) {
    const covering = rules.filter(({ rule }) => coversResource(rule.resource, name) && (rule.action === action || rule.action === '*'));
    if (covering.some(({ rule }) => rule.effect === 'DENY')) continue;
    const writer = covering.find(({ rule }) => rule.conditions.every((condition) => isOwner(condition, owners)));
    if (writer !== undefined) return writer;
  }
  return undefined;
}

/** Returns true if a condition is met by each record of the user. */
function isOwner({ field, operator, value, ...others }: JsonObject, owners: readonly string[]): boolean {
  if (operator !== 'eq' || Object.keys(others).length > 0) return false;
  return owners.some((owner) => {
    return (field === `resource.${owner}` && value === '${user.id}') || (field === 'user.id' && value === `\${resource.${owner}}`);
  });
}

function toWritable(what: string, { rule, policy }: RoleRule, { role }: RoleRules): RuleFinding {
  const named = `rule "${titleOfRule(rule)}" of policy "${policy.name}"`;
  return {
    code: 'self-granted',
    member: 'conditions',
    detail: `the condition reads ${what}, which users with the role ${role} may write by ${named}: they can meet the condition themselves`,
    todo: 'deny these writes, limit them to others with a condition, or read a value that only admins write',
    other: { rule: { id: rule.id, description: rule.description }, policy: { id: policy.id, name: policy.name } },
  };
}
