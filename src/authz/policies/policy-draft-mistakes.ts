import { type Issue, MAX_ISSUES } from '../../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import type { UserAssignment } from './applicable-rules.ts';
import type { PolicyLimits } from './parse-policy.ts';
import type { Policy } from './policy.ts';
import { MAX_DRAFT_ASSIGNMENTS, MAX_DRAFT_POLICIES } from './policy-draft-schemas.ts';
import type { PolicySnapshot } from './policy-snapshot.ts';

/** The stored data that a draft refers to. */
export interface DraftContext {
  readonly definitions: Definitions;
  readonly limits: PolicyLimits;
  readonly snapshot: PolicySnapshot;
  /** The stored policies that `namesInDraft` returns as changed or by name. */
  readonly stored: readonly Policy[];
  /** Returns true if a policy with this id is stored, active or not. */
  hasPolicy(id: string): boolean;
  hasUser(id: string): boolean;
  /** Returns the stored active assignments of a user that the draft names. */
  assignmentsOf(userId: string): readonly UserAssignment[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The ids and names in a draft. */
export interface DraftNames {
  /** Ids of the policies to change. */
  readonly changed: readonly string[];
  /** Ids of the policies to remove, and of those whose assignments the draft writes or removes. */
  readonly mentioned: readonly string[];
  readonly names: readonly string[];
  readonly userIds: readonly string[];
}

/** Returns the ids and names in a draft, for which the caller loads the stored data. The draft may have any mistakes; the result is bounded. */
export function namesInDraft(input: Json): DraftNames {
  const policies = objectsOf(input, 'policies');
  const assignments = [...objectsOf(input, 'assignments'), ...objectsOf(input, 'removeAssignments')];
  return {
    changed: textsOf(policies, 'id'),
    mentioned: [...draftList(input, 'removePolicies').filter((id) => typeof id === 'string'), ...textsOf(assignments, 'policyId')],
    names: textsOf(policies, 'name'),
    userIds: textsOf(assignments, 'userId'),
  };
}

const MAX_ITEMS: Readonly<Record<string, number>> = { policies: MAX_DRAFT_POLICIES, removePolicies: MAX_DRAFT_POLICIES };

/** Returns the items of a list of a draft, up to the maximum; an empty list if the member is no list. */
export function draftList(input: Json, member: 'policies' | 'assignments' | 'removePolicies' | 'removeAssignments'): readonly Json[] {
  const list = isObject(input) ? ownValue(input, member) : undefined;
  return Array.isArray(list) ? list.slice(0, MAX_ITEMS[member] ?? MAX_DRAFT_ASSIGNMENTS) : [];
}

function objectsOf(input: Json, member: Parameters<typeof draftList>[1]): readonly JsonObject[] {
  return draftList(input, member).map((item) => (isObject(item) ? item : {}));
}

function textsOf(items: readonly JsonObject[], member: string): readonly string[] {
  return [...new Set(items.map((item) => ownValue(item, member)).filter((value) => typeof value === 'string'))];
}

/** Returns the id of a new policy in a draft: assignments of the draft may name it. */
export function temporaryId(index: number): string {
  return `draft:${index}`;
}

/** Finds ids and names that the draft gives twice, and names of stored policies that keep their name. */
export function findNameMistakes(input: Json, { stored }: DraftContext): readonly Issue[] {
  const policies = objectsOf(input, 'policies');
  const removed = new Set(draftList(input, 'removePolicies'));
  const renamed = new Map(policies.map((policy) => [ownValue(policy, 'id'), ownValue(policy, 'name')]));
  const isTaken = (id: Json | undefined, name: string): boolean =>
    stored.some((other) => other.name === name && other.id !== id && !removed.has(other.id) && (renamed.get(other.id) ?? name) === name);
  const isRepeated = createRepeatCheck();
  return policies.flatMap((policy, index) => {
    const at = `policies.${index}`;
    const [id, name] = [ownValue(policy, 'id'), ownValue(policy, 'name')];
    const issues: Issue[] = [];
    if (id !== undefined && isRepeated(`id ${id}`))
      issues.push({ path: `${at}.id`, code: 'duplicate', detail: 'the draft changes this policy twice' });
    if (id !== undefined && removed.has(id))
      issues.push({ path: `${at}.id`, code: 'conflict', detail: 'the draft also removes this policy' });
    if (typeof name !== 'string') return issues;
    const detail = `another policy is named ${describeValue(name)}`;
    if (isRepeated(`name ${name}`) || isTaken(id, name)) issues.push({ path: `${at}.name`, code: 'taken', detail });
    return issues;
  });
}

/** Creates a function that returns true if it was called with the same text before. */
function createRepeatCheck(): (text: string) => boolean {
  const seen = new Set<string>();
  return (text) => {
    const isKnown = seen.has(text);
    seen.add(text);
    return isKnown;
  };
}

const UNKNOWN_POLICY = 'no policy has this id; the first new policy of the draft has the id draft:0, the second draft:1';

/** Finds removed policies and assignments that do not exist, assignments of unknown policies or users, and assignments given twice. */
export function findDraftMistakes(input: Json, context: DraftContext): readonly Issue[] {
  const isNew = new Set(objectsOf(input, 'policies').flatMap((policy, index) => ('id' in policy ? [] : [temporaryId(index)])));
  const isRepeated = createRepeatCheck();
  const find: FindOptions = { context, isNew, removed: new Set(draftList(input, 'removePolicies')), isRepeated };
  const issues = draftList(input, 'removePolicies').flatMap((id, index) => findRemovalMistakes(id, `removePolicies.${index}`, find));
  for (const list of ['assignments', 'removeAssignments'] as const) {
    for (const [index, item] of objectsOf(input, list).entries()) issues.push(...findAssignmentMistakes(item, `${list}.${index}`, find));
  }
  return issues.slice(0, MAX_ISSUES);
}

interface FindOptions {
  readonly context: DraftContext;
  /** Ids of the new policies of the draft. */
  readonly isNew: ReadonlySet<string>;
  readonly removed: ReadonlySet<Json>;
  isRepeated(text: string): boolean;
}

function findRemovalMistakes(id: Json, path: string, { context, isRepeated }: FindOptions): readonly Issue[] {
  if (typeof id !== 'string') return [];
  if (!context.hasPolicy(id)) return [{ path, code: 'reference', detail: 'no policy has this id' }];
  return isRepeated(`remove ${id}`) ? [{ path, code: 'duplicate', detail: 'the draft removes this policy twice' }] : [];
}

function findAssignmentMistakes(item: JsonObject, at: string, { context, isNew, removed, isRepeated }: FindOptions): readonly Issue[] {
  const [userId, role, policyId] = ['userId', 'role', 'policyId'].map((member) => ownValue(item, member));
  const issues: Issue[] = [];
  const add = (path: string, code: Issue['code'], detail: string) => issues.push({ path, code, detail });
  const isRemoval = at.startsWith('remove');
  if ((userId === undefined) === (role === undefined)) add(at, 'conflict', 'expected either "userId" or "role"');
  if (role !== undefined && ownValue(item, 'expiresAt') !== undefined)
    add(`${at}.expiresAt`, 'conflict', 'assignments to roles do not expire');
  if (userId !== undefined && ownValue(item, 'priority') !== undefined)
    add(`${at}.priority`, 'conflict', 'assignments to users have no priority');
  if (typeof userId === 'string' && !isRemoval && !context.hasUser(userId)) add(`${at}.userId`, 'reference', 'no user has this id');
  if (typeof policyId !== 'string') return issues;
  if (isRepeated(`assign ${userId} ${role} ${policyId}`)) add(at, 'duplicate', 'the draft names this assignment twice');
  if (removed.has(policyId)) add(`${at}.policyId`, 'conflict', 'the draft also removes this policy');
  else if (!context.hasPolicy(policyId) && !isNew.has(policyId)) add(`${at}.policyId`, 'reference', UNKNOWN_POLICY);
  else if (isRemoval && !isAssigned({ userId, role, policyId }, context)) add(at, 'reference', 'the policy has no such active assignment');
  return issues;
}

function isAssigned(
  { userId, role, policyId }: { readonly userId: Json | undefined; readonly role: Json | undefined; readonly policyId: string },
  { snapshot, assignmentsOf }: DraftContext,
): boolean {
  if (typeof userId === 'string') return assignmentsOf(userId).some((assignment) => assignment.policyId === policyId);
  return snapshot.rolesByPolicy.get(policyId)?.some((assignment) => assignment.role === role) === true;
}
