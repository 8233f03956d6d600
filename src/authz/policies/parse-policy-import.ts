import type { Issue } from '../../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES, type AssignableRole } from '../../resources/index.ts';
import { type AssignmentChange, type ParsedAssignment, parseRoleAssignment, parseUserAssignment } from './parse-assignment.ts';
import { type ParsePolicyOptions, parsePolicy } from './parse-policy.ts';
import type { PolicyInput } from './policy.ts';
import { addIssue, type PolicyParsing, parseOneOf, parseText } from './policy-members.ts';

/** A policy in an import, and the roles and users to assign it to. Existing assignments stay. */
export interface PolicyImport {
  readonly policy: PolicyInput;
  readonly roles: readonly (AssignmentChange & { readonly role: AssignableRole })[];
  readonly users: readonly (AssignmentChange & { readonly userId: string })[];
}

/** Options of `parsePolicyImport`. */
export interface ParsePolicyImportOptions extends Omit<ParsePolicyOptions, 'existing'> {
  /** Maximum number of policies, and of assignments of one policy. */
  readonly maxItems: number;
}

/** Parsed policies, or every mistake in them. */
export interface ParsedPolicyImport {
  /** Empty if there are issues. */
  readonly policies: readonly PolicyImport[];
  readonly issues: readonly Issue[];
}

/** Members that the service sets. They are ignored, so that an export of another service can be imported. */
const IGNORED_POLICY_MEMBERS: ReadonlySet<string> = new Set(['id', 'createdAt', 'updatedAt', 'version', 'createdBy', 'roles', 'users']);
const IGNORED_RULE_MEMBERS: ReadonlySet<string> = new Set(['id', 'policyId', 'createdAt']);

/** Parses a list of complete policies, each identified by its name. Absent members have their defaults. */
export function parsePolicyImport(input: Json | undefined, options: ParsePolicyImportOptions): ParsedPolicyImport {
  const issues: Issue[] = [];
  const items = parseList({ input: { policies: input ?? null }, at: '', issues }, 'policies', options.maxItems);
  const policies = items.flatMap((item, index) => parseItem(item, { ...options, at: `policies.${index}`, issues }) ?? []);
  validateUniqueNames(policies, issues);
  return issues.length === 0 ? { policies, issues } : { policies: [], issues };
}

interface ItemOptions extends ParsePolicyImportOptions {
  readonly at: string;
  readonly issues: Issue[];
}

function parseItem(input: Json, { at, issues, ...options }: ItemOptions): PolicyImport | undefined {
  if (!isObject(input)) {
    issues.push({ path: at, code: 'type', detail: `expected a policy, given ${describeValue(input)}` });
    return undefined;
  }
  const { policy, issues: found } = parsePolicy(toPayload(input), options);
  issues.push(...found.map((issue) => ({ ...issue, path: issue.path === '' ? at : `${at}.${issue.path}` })));
  const parsing: PolicyParsing = { input, at, issues };
  const roles = parseAssignees(parsing, { name: 'roles', member: 'role', maxItems: options.maxItems }, (assignee) => {
    const role = parseOneOf(assignee, 'role', ASSIGNABLE_ROLES);
    return role === undefined ? undefined : withAssignment(assignee, { role }, parseRoleAssignment);
  });
  const users = parseAssignees(parsing, { name: 'users', member: 'userId', maxItems: options.maxItems }, (assignee) => {
    const userId = parseText(assignee, 'userId', { max: 200 });
    return userId === undefined ? undefined : withAssignment(assignee, { userId }, parseUserAssignment);
  });
  return policy === undefined ? undefined : { policy, roles, users };
}

function toPayload(input: JsonObject): JsonObject {
  const policy = without(input, IGNORED_POLICY_MEMBERS);
  const rules = ownValue(input, 'rules');
  return Array.isArray(rules)
    ? { ...policy, rules: rules.map((rule: Json) => (isObject(rule) ? without(rule, IGNORED_RULE_MEMBERS) : rule)) }
    : policy;
}

function without(value: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
}

/** A list of assignments: the member that contains it, and the member that identifies the role or user. */
interface AssigneeList {
  readonly name: 'roles' | 'users';
  readonly member: 'role' | 'userId';
  readonly maxItems: number;
}

function parseAssignees<Assignment>(
  parsing: PolicyParsing,
  { name, member, maxItems }: AssigneeList,
  parseAssignee: (assignee: PolicyParsing) => Assignment | undefined,
): readonly Assignment[] {
  if (ownValue(parsing.input, name) === undefined) return [];
  return parseList(parsing, name, maxItems).flatMap((input, index) => {
    const at = `${parsing.at}.${name}.${index}`;
    if (isObject(input) && ownValue(input, member) !== undefined) return parseAssignee({ input, at, issues: parsing.issues }) ?? [];
    parsing.issues.push({ path: at, code: 'type', detail: `expected an object with "${member}", given ${describeValue(input)}` });
    return [];
  });
}

/** Returns the role or user with its assignment; undefined if the assignment is invalid. */
function withAssignment<Assignee extends object>(
  { input, at, issues }: PolicyParsing,
  assignee: Assignee,
  parse: (members: JsonObject) => ParsedAssignment,
): (Assignee & AssignmentChange) | undefined {
  const { change, issues: found } = parse(without(input, new Set(Object.keys(assignee))));
  issues.push(...found.map((issue) => ({ ...issue, path: `${at}.${issue.path}` })));
  return change === undefined ? undefined : { ...assignee, ...change };
}

function parseList(parsing: PolicyParsing, name: string, maxItems: number): readonly Json[] {
  const given = ownValue(parsing.input, name);
  if (Array.isArray(given) && given.length <= maxItems) return given as readonly Json[];
  const what = Array.isArray(given) ? `${given.length} items` : describeValue(given);
  addIssue(parsing, name, { code: 'tooMany', detail: `expected a list of at most ${maxItems} items, given ${what}` });
  return [];
}

/** Adds an issue for every repeated name: an import identifies a policy by its name. */
function validateUniqueNames(policies: readonly PolicyImport[], issues: Issue[]): void {
  const seen = new Set<string>();
  for (const [index, { policy }] of policies.entries()) {
    if (seen.has(policy.name))
      issues.push({
        path: `policies.${index}.name`,
        code: 'duplicate',
        detail: `two policies have the name ${JSON.stringify(policy.name)}: expected each name once`,
      });
    seen.add(policy.name);
  }
}
