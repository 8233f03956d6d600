import type { Issue } from '../../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES, type AssignableRole } from '../../resources/index.ts';
import { type AssignmentChange, type ParsedAssignment, parseRoleAssignment, parseUserAssignment } from './assignment.ts';
import { type ParsePolicyOptions, parsePolicy } from './parse-policy.ts';
import type { PolicyInput } from './policy.ts';
import { addIssue, type PolicyParsing, parseOneOf, parseText } from './policy-members.ts';

/** A policy as a file says it, and who is to have it beside those who have it already. */
export interface PolicyImport {
  readonly policy: PolicyInput;
  readonly roles: readonly (AssignmentChange & { readonly role: AssignableRole })[];
  readonly users: readonly (AssignmentChange & { readonly userId: string })[];
}

/** What reading many policies depends on. */
export interface ParsePolicyImportOptions extends Omit<ParsePolicyOptions, 'existing'> {
  /** Policies, and assignments of one of them, at most. */
  readonly most: number;
}

/** Policies that were read, or everything that is wrong with them. */
export interface ParsedPolicyImport {
  /** None where there are issues. */
  readonly policies: readonly PolicyImport[];
  readonly issues: readonly Issue[];
}

/** Made by the service, and other ones elsewhere: what was exported there can be imported here. */
const POLICY_OWN: ReadonlySet<string> = new Set(['id', 'createdAt', 'updatedAt', 'version', 'createdBy', 'roles', 'users']);
const RULE_OWN: ReadonlySet<string> = new Set(['id', 'policyId', 'createdAt']);

/** Reads a list of policies, each known by its name and said as a whole: what a policy does not say has its default. */
export function parsePolicyImport(input: Json | undefined, options: ParsePolicyImportOptions): ParsedPolicyImport {
  const issues: Issue[] = [];
  const listed = readList({ input: { policies: input ?? null }, at: '', issues }, 'policies', options.most);
  const policies = listed.flatMap((each, index) => readOne(each, { ...options, at: `policies.${index}`, issues }) ?? []);
  checkNames(policies, issues);
  return issues.length === 0 ? { policies, issues } : { policies: [], issues };
}

interface Place extends ParsePolicyImportOptions {
  readonly at: string;
  readonly issues: Issue[];
}

function readOne(input: Json, { at, issues, ...options }: Place): PolicyImport | undefined {
  if (!isObject(input)) {
    issues.push({ path: at, code: 'type', detail: `expected a policy, given ${describeValue(input)}` });
    return undefined;
  }
  const { policy, issues: found } = parsePolicy(toPayload(input), options);
  issues.push(...found.map((issue) => ({ ...issue, path: issue.path === '' ? at : `${at}.${issue.path}` })));
  const reading: PolicyParsing = { input, at, issues };
  const roles = readHolders(reading, { name: 'roles', member: 'role', most: options.most }, (holder) => {
    const role = parseOneOf(holder, 'role', ASSIGNABLE_ROLES);
    return role === undefined ? undefined : toHeld(holder, { role }, parseRoleAssignment);
  });
  const users = readHolders(reading, { name: 'users', member: 'userId', most: options.most }, (holder) => {
    const userId = parseText(holder, 'userId', { max: 200 });
    return userId === undefined ? undefined : toHeld(holder, { userId }, parseUserAssignment);
  });
  return policy === undefined ? undefined : { policy, roles, users };
}

function toPayload(input: JsonObject): JsonObject {
  const policy = without(input, POLICY_OWN);
  const rules = ownValue(input, 'rules');
  return Array.isArray(rules) ? { ...policy, rules: rules.map((rule: Json) => (isObject(rule) ? without(rule, RULE_OWN) : rule)) } : policy;
}

function without(value: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
}

/** A list of those who have a policy, each named by one member. */
interface HolderList {
  readonly name: 'roles' | 'users';
  readonly member: 'role' | 'userId';
  readonly most: number;
}

function readHolders<Held>(
  reading: PolicyParsing,
  { name, member, most }: HolderList,
  readHolder: (holder: PolicyParsing) => Held | undefined,
): readonly Held[] {
  if (ownValue(reading.input, name) === undefined) return [];
  return readList(reading, name, most).flatMap((input, index) => {
    const at = `${reading.at}.${name}.${index}`;
    if (isObject(input) && ownValue(input, member) !== undefined) return readHolder({ input, at, issues: reading.issues }) ?? [];
    reading.issues.push({ path: at, code: 'type', detail: `expected an object with "${member}", given ${describeValue(input)}` });
    return [];
  });
}

/** A holder with what is said of the assignment beside. */
function toHeld<Holder extends object>(
  { input, at, issues }: PolicyParsing,
  holder: Holder,
  read: (said: JsonObject) => ParsedAssignment,
): (Holder & AssignmentChange) | undefined {
  const { change, issues: found } = read(without(input, new Set(Object.keys(holder))));
  issues.push(...found.map((issue) => ({ ...issue, path: `${at}.${issue.path}` })));
  return change === undefined ? undefined : { ...holder, ...change };
}

function readList(reading: PolicyParsing, name: string, most: number): readonly Json[] {
  const given = ownValue(reading.input, name);
  if (Array.isArray(given) && given.length <= most) return given as readonly Json[];
  const what = Array.isArray(given) ? `${given.length} of them` : describeValue(given);
  addIssue(reading, name, { code: 'tooMany', detail: `expected a list of at most ${most}, given ${what}` });
  return [];
}

/** A policy is known by its name: of two, nobody could say which one is meant. */
function checkNames(policies: readonly PolicyImport[], issues: Issue[]): void {
  const seen = new Set<string>();
  for (const [index, { policy }] of policies.entries()) {
    if (seen.has(policy.name))
      issues.push({
        path: `policies.${index}.name`,
        code: 'unique',
        detail: `expected each name once, ${JSON.stringify(policy.name)} was given before`,
      });
    seen.add(policy.name);
  }
}
