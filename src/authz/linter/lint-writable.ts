/** Reports conditions on values that the same users may write: members can then make themselves editors. */
import type { Comparison, Condition, Path, Related } from '../../conditions/index.ts';
import { relatedPaths } from '../../conditions/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Resource } from '../../resources/index.ts';
import { assignedPolicy, coversResource, type Policy, type PolicyRule, type PolicySnapshot, titleOfRule } from '../policies/index.ts';
import type { RuleFinding } from './finding.ts';
import { definitionsFor, type LintedRule } from './lint-context.ts';
import { usersToCompare } from './lint-order.ts';

/** Maximum number of policies of a role that are searched for rules that allow writing. */
const MAX_POLICIES = 200;
/** The role that users have by default. */
const DEFAULT_ROLE = 'user';
/** Maximum number of findings about one rule. */
const MAX_FINDINGS = 5;

/**
 * Reports conditions of an ALLOW rule on fields of the user, on related records of the user, and on records behind references, that every user
 * of the policy may write by another rule: a rule without conditions, or one on the user's own records. A condition that at most so many related
 * records meet is reported if they may delete these. If a DENY without conditions covers the same writes, nothing is reported.
 */
export function lintWritable(linted: LintedRule): readonly RuleFinding[] {
  if (linted.rule.effect !== 'ALLOW') return [];
  const { assignments, index } = linted.context;
  const roles = assignments.roles.filter(({ role }) => role !== 'admin').map(({ role }) => role);
  const ofRoles = roles.flatMap((role) =>
    lintFor({ linted, rules: rulesOf(role, index.snapshot), subject: `users with the role ${role}` }),
  );
  const users = usersToCompare(linted.policy, assignments, index.now) ?? [];
  const ofUser = users.map((id) => lintFor({ linted, rules: rulesOfUser(id, linted), subject: `user ${id}` }));
  return [...ofRoles, ...(ofUser.find((found) => found.length > 0) ?? [])].slice(0, MAX_FINDINGS);
}

function lintFor(within: SubjectRules): readonly RuleFinding[] {
  const { rule, compiled } = within.linted;
  if (within.rules.some((other) => allows(other, rule))) return [];
  return [
    ...compiled.paths.flatMap((path) => [...lintUserField(path, within), ...lintReferenced(path, within)]),
    ...compiled.related.flatMap((related) => lintRelatedRecords(related, within)),
  ];
}

/** An active rule with its policy. */
interface ActiveRule {
  readonly rule: PolicyRule;
  readonly policy: Policy;
}

/** The rules of the users of a role, or of one user, to whom the linted rule is assigned. */
interface SubjectRules {
  readonly linted: LintedRule;
  /** The users, as the finding names them. */
  readonly subject: string;
  readonly rules: readonly ActiveRule[];
}

/** Returns the active rules of a role; none if the role has too many policies. */
function rulesOf(role: string, { byRole, policies }: PolicySnapshot): readonly ActiveRule[] {
  const assigned = byRole.get(role);
  if (assigned === undefined || assigned.size > MAX_POLICIES) return [];
  return [...assigned.entries()].flatMap(([policyId]) => activeRules(policies.get(policyId)));
}

/** Returns the active rules of the own assignments of a user, and those of the role that users have by default: the linter knows no user's role. */
function rulesOfUser(id: string, { context }: LintedRule): readonly ActiveRule[] {
  const { snapshot, now } = context.index;
  const own = context.assignmentsOf(id).filter(({ expiresAt }) => expiresAt > now);
  if (own.length > MAX_POLICIES) return [];
  return [...own.flatMap((assignment) => activeRules(assignedPolicy(snapshot.policies, assignment))), ...rulesOf(DEFAULT_ROLE, snapshot)];
}

function activeRules(policy: Policy | undefined): readonly ActiveRule[] {
  return policy?.rules.filter(({ isActive }) => isActive).map((rule) => ({ rule, policy })) ?? [];
}

/** Returns true if a rule without conditions allows everything that the linted rule allows: its conditions then do not matter. */
function allows({ rule }: ActiveRule, linted: PolicyRule): boolean {
  const covers = coversResource(rule.resource, linted.resource) && (rule.action === linted.action || rule.action === '*');
  return rule.effect === 'ALLOW' && rule.conditions.length === 0 && covers;
}

function lintUserField({ group, keys }: Path, within: SubjectRules): readonly RuleFinding[] {
  const user = definitionsFor(within.linted).get('User');
  const field = group === 'user' ? user?.fields.get(keys[0] ?? '') : undefined;
  if (user === undefined || field === undefined || field.guarded || field.readOnly || field.immutable || field.writeOnly) return [];
  const writer = findWriter(user, { ...within, actions: ['update'], owners: ['id'] });
  return writer === undefined ? [] : [toWritable(`"user.${field.name}"`, writer, within)];
}

/** Reports a value of a record that the user or the record references, if every such record may be changed. */
function lintReferenced({ group, keys, text }: Path, within: SubjectRules): readonly RuleFinding[] {
  const { rule } = within.linted;
  const definitions = definitionsFor(within.linted);
  const from = definitions.get(group === 'user' ? 'User' : rule.resource);
  const [name = '', value = ''] = keys;
  const reference = group === 'user' || group === 'resource' ? from?.fields.get(name) : undefined;
  const target = definitions.get(reference?.to ?? reference?.of?.to ?? '');
  const field = target?.fields.get(value);
  if (target === undefined || field === undefined || field.guarded || field.readOnly || field.immutable || field.writeOnly) return [];
  const writer = findWriter(target, { ...within, actions: ['update'], owners: [] });
  return writer === undefined ? [] : [toWritable(`"${text}" of ${target.name}`, writer, within)];
}

function lintRelatedRecords(related: Related, within: SubjectRules): readonly RuleFinding[] {
  const resource = definitionsFor(within.linted).get(related.resource);
  const owners = ownersOf(related);
  // Records that are not linked with the user give the user nothing.
  if (resource === undefined || owners.length === 0) return [];
  const isSet = ([name = '']: readonly string[]): boolean => resource.fields.get(name)?.readOnly === false;
  const areSet = relatedPaths(related).every(isSet);
  const what = `records of ${resource.name}`;
  // More records meet a bound from below, and fewer one from above.
  const adds = related.atLeast !== undefined && areSet ? ['create', 'update', 'import'] : [];
  const writer = findWriter(resource, { ...within, actions: adds, owners });
  if (writer !== undefined) return [toWritable(what, writer, within)];
  if (related.atMost === undefined) return [];
  const remover = findWriter(resource, { ...within, actions: ['delete'], owners });
  if (remover !== undefined) return [toWritable(what, remover, { ...within, verb: 'delete' })];
  const changer = findWriter(resource, { ...within, actions: areSet ? ['update'] : [], owners });
  return changer === undefined ? [] : [toWritable(what, changer, within)];
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
interface Writes extends SubjectRules {
  readonly actions: readonly string[];
  readonly owners: readonly string[];
}

/** Returns the first rule by which every user of the role may write records, or their own records. */
function findWriter({ name }: Resource, { rules, actions, owners }: Writes): ActiveRule | undefined {
  for (const action of actions) {
    const covering = rules.filter(({ rule }) => coversResource(rule.resource, name) && (rule.action === action || rule.action === '*'));
    if (covering.some(({ rule }) => rule.effect === 'DENY' && rule.conditions.length === 0)) continue;
    const writer = covering.find(({ rule }) => rule.effect === 'ALLOW' && rule.conditions.every((condition) => isOwner(condition, owners)));
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

function toWritable(
  what: string,
  { rule, policy }: ActiveRule,
  { subject, verb = 'write' }: Pick<SubjectRules, 'subject'> & { readonly verb?: string },
): RuleFinding {
  const named = `rule "${titleOfRule(rule)}" of policy "${policy.name}"`;
  return {
    code: 'self-granted',
    member: 'conditions',
    detail: `the condition reads ${what}, which ${subject} may ${verb} by ${named}: the condition protects nothing from them`,
    todo: 'deny these writes, limit them to others with a condition, or read a value that only admins write',
    other: { rule: { id: rule.id, description: rule.description }, policy: { id: policy.id, name: policy.name } },
  };
}
