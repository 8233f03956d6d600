/** Reports conditions on values that the same users may write: members can then make themselves editors. */
import type { Comparison, Condition, Path, Related } from '../../conditions/index.ts';
import { relatedPaths } from '../../conditions/index.ts';
import { assignedPolicy, type Policy, type PolicyRule, type PolicySnapshot, titleOfRule } from '../policies/index.ts';
import type { RuleFinding } from './finding.ts';
import { definitionsFor, type LintContext, type LintedRule } from './lint-context.ts';
import { usersToCompare } from './lint-order.ts';
import { allowsAll, findWriter, type Writer, type Writes } from './policy-writers.ts';

/** Maximum number of policies of a role or user that are searched for rules that allow writing. */
const MAX_POLICIES = 200;
/** Maximum number of policies that are searched for all users who have the linted policy together. */
const MAX_USER_POLICIES = 2000;
/** The role that users have by default. */
const DEFAULT_ROLE = 'user';
/** Maximum number of findings about one rule. */
const MAX_FINDINGS = 5;

/**
 * Reports conditions of ALLOW rules on fields of the user, on related records of the user, and on records behind references, that every user
 * of the policy may write by another rule: a rule without conditions, or one on the user's own records. A condition that at most so many related
 * records meet is reported if they may delete these. If a DENY without conditions covers the same writes, nothing is reported.
 */
export function lintWritable(linted: readonly LintedRule[], context: LintContext): ReadonlyMap<PolicyRule, readonly RuleFinding[]> {
  const all = linted.flatMap((each) => {
    const reads = each.rule.effect === 'ALLOW' ? readsOf(each) : [];
    return reads.length === 0 ? [] : [{ ...each, reads }];
  });
  const [first] = all;
  if (first === undefined) return new Map();
  const roles = rolesOf(context);
  const users = usersOf(first.policy, context);
  return new Map(
    all.map(({ rule, reads }) => {
      const ofRoles = roles.flatMap((role) => lintFor(role, rule, reads));
      return [rule, [...ofRoles, ...lintForFirst(users, rule, reads)].slice(0, MAX_FINDINGS)];
    }),
  );
}

/** The users of a role, or one user, to whom the linted policy is assigned. */
interface Subject {
  /** The users, as the finding names them. */
  readonly name: string;
  readonly policies: readonly Policy[];
  /** The results of the searches, by their keys. */
  readonly found: Map<string, Writer | undefined>;
}

function rolesOf({ assignments, index }: LintContext): readonly Subject[] {
  const roles = assignments.roles.filter(({ role }) => role !== 'admin');
  return roles.map(({ role }) => toSubject(`users with the role ${role}`, policiesOf(role, index.snapshot)));
}

/**
 * Returns the users of the policy with the policies of their own assignments, and those of the role that users have by default: the linter knows
 * no user's role. Of users with the same policies, it returns the first one.
 */
function usersOf(policy: Policy, { assignments, assignmentsOf, index: { snapshot, now } }: LintContext): readonly Subject[] {
  const ofDefault = policiesOf(DEFAULT_ROLE, snapshot);
  const byPolicies = new Map<string, Subject>();
  let searched = 0;
  for (const id of usersToCompare(policy, assignments, now) ?? []) {
    const own = assignmentsOf(id).filter(({ expiresAt }) => expiresAt > now);
    const key = own.map(({ policyId }) => policyId).join();
    if (own.length > MAX_POLICIES || byPolicies.has(key)) continue;
    searched += own.length;
    if (searched > MAX_USER_POLICIES) break;
    const policies = own.flatMap((assignment) => assignedPolicy(snapshot.policies, assignment) ?? []);
    byPolicies.set(key, toSubject(`user ${id}`, [...policies, ...ofDefault]));
  }
  return [...byPolicies.values()];
}

/** Returns the policies of a role; none if the role has too many. */
function policiesOf(role: string, { byRole, policies }: PolicySnapshot): readonly Policy[] {
  const assigned = byRole.get(role);
  if (assigned === undefined || assigned.size > MAX_POLICIES) return [];
  return [...assigned.entries()].flatMap(([policyId]) => policies.get(policyId) ?? []);
}

function toSubject(name: string, policies: readonly Policy[]): Subject {
  return { name, policies, found: new Map() };
}

/** Returns the findings for the first of the users who has any. */
function lintForFirst(users: readonly Subject[], rule: PolicyRule, reads: readonly Read[]): readonly RuleFinding[] {
  for (const user of users) {
    const found = lintFor(user, rule, reads);
    if (found.length > 0) return found;
  }
  return [];
}

function lintFor(subject: Subject, { resource, action }: PolicyRule, reads: readonly Read[]): readonly RuleFinding[] {
  const found = reads.flatMap(({ what, searches }) => {
    const [first] = searches.flatMap((search) => {
      const writer = writerFor(subject, search);
      return writer === undefined ? [] : [toWritable(what, writer, { subject: subject.name, verb: search.verb })];
    });
    return first ?? [];
  });
  // If a rule without conditions allows everything that the linted rule allows, its conditions do not matter.
  return found.length > 0 && allowsAll(subject.policies, resource, action) ? [] : found;
}

function writerFor({ policies, found }: Subject, { key, ...writes }: Search): Writer | undefined {
  if (!found.has(key)) found.set(key, findWriter(policies, writes));
  return found.get(key);
}

/** A value that a rule reads, and the writes that change it. */
interface Read {
  /** The value, as the finding names it. */
  readonly what: string;
  readonly searches: readonly Search[];
}

interface Search extends Writes {
  readonly verb: 'write' | 'delete';
  /** A text that is equal for equal writes. */
  readonly key: string;
}

function toSearch(writes: Writes, verb: Search['verb'] = 'write'): Search {
  return { ...writes, verb, key: JSON.stringify([writes.resource, writes.actions, writes.owners]) };
}

function readsOf(linted: LintedRule): readonly Read[] {
  const { paths, related } = linted.compiled;
  return [
    ...paths.flatMap((path) => [...readUserField(path, linted), ...readReferenced(path, linted)]),
    ...related.flatMap((each) => readRelatedRecords(each, linted)),
  ];
}

function readUserField({ group, keys }: Path, linted: LintedRule): readonly Read[] {
  const user = definitionsFor(linted).get('User');
  const field = group === 'user' ? user?.fields.get(keys[0] ?? '') : undefined;
  if (user === undefined || field === undefined || field.guarded || field.readOnly || field.immutable || field.writeOnly) return [];
  return [{ what: `"user.${field.name}"`, searches: [toSearch({ resource: user.name, actions: ['update'], owners: ['id'] })] }];
}

/** Returns a value of a record that the user or the record references. It is reported if every such record may be changed. */
function readReferenced({ group, keys, text }: Path, linted: LintedRule): readonly Read[] {
  const definitions = definitionsFor(linted);
  const from = definitions.get(group === 'user' ? 'User' : linted.rule.resource);
  const [name = '', value = ''] = keys;
  const reference = group === 'user' || group === 'resource' ? from?.fields.get(name) : undefined;
  const target = definitions.get(reference?.to ?? reference?.of?.to ?? '');
  const field = target?.fields.get(value);
  if (target === undefined || field === undefined || field.guarded || field.readOnly || field.immutable || field.writeOnly) return [];
  return [{ what: `"${text}" of ${target.name}`, searches: [toSearch({ resource: target.name, actions: ['update'], owners: [] })] }];
}

function readRelatedRecords(related: Related, linted: LintedRule): readonly Read[] {
  const resource = definitionsFor(linted).get(related.resource);
  const owners = ownersOf(related);
  // Records that are not linked with the user give the user nothing.
  if (resource === undefined || owners.length === 0) return [];
  const areSet = relatedPaths(related).every(([name = '']) => resource.fields.get(name)?.readOnly === false);
  const writes = (...actions: readonly string[]): Writes => ({ resource: resource.name, actions, owners });
  // More records meet a bound from below, and fewer one from above.
  const adding = related.atLeast !== undefined && areSet ? [toSearch(writes('create', 'update', 'import'))] : [];
  const removing = related.atMost === undefined ? [] : [toSearch(writes('delete'), 'delete')];
  const changing = related.atMost !== undefined && areSet ? [toSearch(writes('update'))] : [];
  return [{ what: `records of ${resource.name}`, searches: [...adding, ...removing, ...changing] }];
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

function toWritable(
  what: string,
  { rule, policy }: Writer,
  { subject, verb }: { readonly subject: string; readonly verb: Search['verb'] },
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
