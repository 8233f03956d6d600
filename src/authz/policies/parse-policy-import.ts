import { type Issue, MAX_ISSUES } from '../../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../../operators/index.ts';
import type { AssignableRole } from '../../resources/index.ts';
import type { TypeOf } from '../../schemas/index.ts';
import { validateSchema } from '../../validation/index.ts';
import { type AssignmentChange, findContextMistakes, toRoleAssignmentChange, toUserAssignmentChange } from './parse-assignment.ts';
import { findPolicyMistakes, joinMistakes, type ParsePolicyOptions, toPolicyInput, withMaxItems } from './parse-policy.ts';
import type { PolicyInput } from './policy.ts';
import { type IMPORTED_POLICY, POLICIES_IN_FILES, POLICY_IMPORT } from './policy-schemas.ts';

/** A policy in an import, and the roles and users to assign it to. Existing assignments stay. */
export interface PolicyImport {
  readonly policy: PolicyInput;
  /** The file that manages the policy and its assignments to roles; undefined if the admin API manages them. */
  readonly file?: string | undefined;
  readonly roles: readonly (AssignmentChange & { readonly role: AssignableRole })[];
  readonly users: readonly (AssignmentChange & { readonly userId: string })[];
}

/** Options of `parsePolicyImport`. */
export interface ParsePolicyImportOptions extends Omit<ParsePolicyOptions, 'existing'> {
  /** Maximum number of policies, and of assignments of one policy. */
  readonly maxItems: number;
  /** True if the policies are read from files, which cannot assign policies to users. */
  readonly inFiles?: boolean;
}

/** Parsed policies, or every mistake in them. */
export interface ParsedPolicyImport {
  /** Empty if there are issues. */
  readonly policies: readonly PolicyImport[];
  /** True if the body asks for a dry run. */
  readonly dryRun?: boolean | undefined;
  /** The reason of the change. */
  readonly reason?: string | undefined;
  readonly issues: readonly Issue[];
}

/** Parses the body of an import: complete policies, each identified by its name. Absent members have their defaults. */
export function parsePolicyImport(input: Json, options: ParsePolicyImportOptions): ParsedPolicyImport {
  const steps = parsePolicyImportInSteps(input, options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Parses the body of an import in steps of at most one policy, so that other requests can continue between two of them. */
export function* parsePolicyImportInSteps(input: Json, options: ParsePolicyImportOptions): Generator<void, ParsedPolicyImport> {
  const found: Issue[] = [];
  const body = yield* withBoundedLists(withMaxItems(input, 'policies', { max: options.maxItems, issues: found }), {
    ...options,
    issues: found,
  });
  const items = itemsOf(body);
  for (const [index, item] of items.entries()) {
    // Further mistakes would not be shown.
    if (found.length >= MAX_ISSUES) break;
    yield;
    found.push(...withPath(findItemMistakes(item, options).slice(0, MAX_ISSUES), `policies.${index}`));
  }
  const shape = yield* findShapeMistakes(options.inFiles === true ? POLICIES_IN_FILES : POLICY_IMPORT, body);
  const issues = joinMistakes(shape, [...found, ...findRepeatedNames(items)]);
  if (issues.length > 0) return { policies: [], issues };
  const { policies, ...members } = body as TypeOf<typeof POLICY_IMPORT>;
  const parsed: PolicyImport[] = [];
  for (const policy of policies) {
    yield;
    parsed.push(toPolicyImport(policy));
  }
  return { ...members, policies: parsed, issues };
}

/** Returns the body with lists of rules, roles and users of at most their configured lengths, and adds an issue for each longer list. */
function* withBoundedLists(
  body: Json,
  { limits, maxItems, issues }: ParsePolicyImportOptions & { readonly issues: Issue[] },
): Generator<void, Json> {
  const lengths = Object.entries({ rules: limits.rules, roles: maxItems, users: maxItems });
  const policies: Json[] = [];
  for (const [index, item] of itemsOf(body).entries()) {
    yield;
    const own: Issue[] = [];
    policies.push(lengths.reduce((given, [name, max]) => withMaxItems(given, name, { max, issues: own }), item));
    if (own.length > 0) issues.push(...withPath(own, `policies.${index}`));
  }
  return isObject(body) && policies.length > 0 ? { ...body, policies } : body;
}

/** Maximum policies that are compared with the schema in one step. */
const SLICE = 10;

/** Returns the mistakes that the schema of the body finds. The first slice has the other members of the body. */
function* findShapeMistakes(schema: object, body: Json): Generator<void, readonly Issue[]> {
  const items = itemsOf(body);
  if (items.length <= SLICE) return validateSchema(schema, body);
  const issues: Issue[] = [];
  for (let from = 0; from < items.length && issues.length < MAX_ISSUES; from += SLICE) {
    yield;
    const slice = { ...(from === 0 && (body as JsonObject)), policies: items.slice(from, from + SLICE) };
    for (const issue of validateSchema(schema, slice)) issues.push({ ...issue, path: movePath(issue.path, from) });
  }
  return issues.slice(0, MAX_ISSUES);
}

/** Returns the path of a mistake in a slice as the path in the whole body. */
function movePath(path: string, by: number): string {
  return path.replace(/^policies\.(\d+)/, (_, index: string) => `policies.${Number(index) + by}`);
}

function itemsOf(body: Json): readonly Json[] {
  const items = isObject(body) ? ownValue(body, 'policies') : undefined;
  return Array.isArray(items) ? items : [];
}

function withPath(issues: readonly Issue[], at: string): readonly Issue[] {
  return issues.map((issue) => ({ ...issue, path: `${at}.${issue.path}` }));
}

function findItemMistakes(item: Json, options: ParsePolicyOptions): readonly Issue[] {
  if (!isObject(item)) return [];
  const users = ownValue(item, 'users');
  return [
    ...findPolicyMistakes(withoutIgnored(item), options),
    ...(Array.isArray(users) ? users.flatMap((user: Json, index) => withPath(findContextMistakes(user), `users.${index}`)) : []),
    ...findRepeatedAssignees(item, { list: 'roles', member: 'role', noun: 'role' }),
    ...findRepeatedAssignees(item, { list: 'users', member: 'userId', noun: 'user' }),
  ];
}

/** Members that the service sets. They are ignored, so that an export of another service can be imported. */
const IGNORED_POLICY_MEMBERS: ReadonlySet<string> = new Set(['id', 'createdAt', 'updatedAt', 'version', 'createdBy', 'managedBy', 'file']);
const IGNORED_RULE_MEMBERS: ReadonlySet<string> = new Set(['id', 'policyId', 'createdAt']);

function withoutIgnored(item: JsonObject): JsonObject {
  const policy = without(item, IGNORED_POLICY_MEMBERS);
  const rules = ownValue(item, 'rules');
  if (!Array.isArray(rules)) return policy;
  return { ...policy, rules: rules.map((rule: Json) => (isObject(rule) ? without(rule, IGNORED_RULE_MEMBERS) : rule)) };
}

function without(value: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
}

function toPolicyImport({ roles = [], users = [], createdBy: _, ...item }: TypeOf<typeof IMPORTED_POLICY>): PolicyImport {
  return {
    policy: toPolicyInput({ ...item, rules: item.rules.map(({ id: _id, ...rule }) => rule) }),
    roles: roles.map(({ role, ...assignment }) => ({ role, ...toRoleAssignmentChange(assignment) })),
    users: users.map(({ userId, ...assignment }) => ({ userId, ...toUserAssignmentChange(assignment) })),
  };
}

interface AssigneeList {
  readonly list: 'roles' | 'users';
  /** The member that identifies the role or user. */
  readonly member: string;
  readonly noun: string;
}

/** Finds roles or users that a policy lists twice. */
function findRepeatedAssignees(policy: JsonObject, { list, member, noun }: AssigneeList): readonly Issue[] {
  const items = ownValue(policy, list);
  if (!Array.isArray(items)) return [];
  const seen = new Set<string>();
  return items.flatMap((item: Json, index) => {
    const assignee = isObject(item) ? ownValue(item, member) : undefined;
    if (typeof assignee !== 'string') return [];
    const detail = `the policy is assigned to ${noun} ${describeValue(assignee)} twice: expected each ${noun} once`;
    if (seen.has(assignee)) return [{ path: `${list}.${index}`, code: 'duplicate' as const, detail }];
    seen.add(assignee);
    return [];
  });
}

/** Finds repeated names: an import identifies a policy by its name. */
function findRepeatedNames(items: readonly Json[]): readonly Issue[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const name = isObject(item) ? ownValue(item, 'name') : undefined;
    if (typeof name !== 'string') return [];
    const detail = `two policies have the name ${describeValue(name)}: expected each name once`;
    if (seen.has(name)) return [{ path: `policies.${index}.name`, code: 'duplicate' as const, detail }];
    seen.add(name);
    return [];
  });
}
