/**
 * Drafts: changes of policies and assignments that are tried on a snapshot and never stored. `parseDraft` validates a draft like
 * writes of its parts; `applyDraft` returns the snapshot as it would be after them.
 */
import { type Issue, MAX_ISSUES } from '../../errors.ts';
import { isObject, type Json, type JsonObject, ownValue, parseInstant } from '../../operators/index.ts';
import type { AssignableRole } from '../../resources/index.ts';
import { validateSchema } from '../../validation/index.ts';
import { NO_ASSIGNMENTS, type UserAssignment } from './applicable-rules.ts';
import { joinMistakes, parsePolicy } from './parse-policy.ts';
import { requireRoles } from './pending-roles.ts';
import { DEFAULT_PRIORITY, type Policy, type PolicyInput, type RolePolicy } from './policy.ts';
import { type DraftContext, draftList, findDraftMistakes, findNameMistakes, temporaryId } from './policy-draft-mistakes.ts';
import { ACCESS_DRAFT, type DraftAssignment, type DraftBody } from './policy-draft-schemas.ts';
import { changePolicies, type PolicySnapshot } from './policy-snapshot.ts';

/** A validated draft. Undefined stands for what the draft removes. */
export interface AccessDraft {
  /** Policies by id. */
  readonly policies: ReadonlyMap<string, Policy | undefined>;
  /** Assignments to roles by id. */
  readonly rolePolicies: ReadonlyMap<string, RolePolicy | undefined>;
  /** User → policy → assignment. */
  readonly userPolicies: ReadonlyMap<string, ReadonlyMap<string, UserAssignment | undefined>>;
  /** The stored policies of its assignments that the snapshot does not have. */
  readonly assigned?: ReadonlyMap<string, Policy>;
}

/** The draft that changes nothing. */
export const EMPTY_DRAFT: AccessDraft = Object.freeze({ policies: new Map(), rolePolicies: new Map(), userPolicies: new Map() });

/** A parsed draft, or every mistake in it. */
export interface ParsedDraft {
  /** Absent if there are issues. */
  readonly draft?: AccessDraft;
  readonly issues: readonly Issue[];
}

/** Parses a draft. The paths of mistakes begin in the draft: `policies.0.rules.1.conditions.0.operator`. */
export function parseDraft(input: Json, context: DraftContext): ParsedDraft {
  const parsed = draftList(input, 'policies').map((given, index) => parseDraftPolicy(given, index, context));
  const found = [...parsed.flatMap(({ issues }) => issues), ...findNameMistakes(input, context), ...findDraftMistakes(input, context)];
  const issues = joinMistakes(validateSchema(ACCESS_DRAFT, input), found);
  if (issues.length > 0) return { issues: issues.slice(0, MAX_ISSUES) };
  return {
    draft: toDraft(
      input as DraftBody,
      parsed.flatMap(({ policy }) => policy ?? []),
      context,
    ),
    issues,
  };
}

/**
 * Returns the snapshot with the policies and the assignments to roles of a draft. The given snapshot does not change. Damaged assignments keep
 * denying: no draft repairs them.
 */
export function applyDraft(snapshot: PolicySnapshot, { policies, rolePolicies, assigned = new Map() }: AccessDraft): PolicySnapshot {
  requireRoles(snapshot);
  return changePolicies(snapshot, { revision: snapshot.revision, policies: new Map([...assigned, ...policies]), rolePolicies });
}

/** Returns the assignments of a user with those of a draft, and without the stored policies that the draft changes. */
export function draftAssignments(
  { policies, userPolicies }: AccessDraft,
  userId: string | undefined,
  assignments: readonly UserAssignment[],
): readonly UserAssignment[] {
  const isChanged = ({ policyId, policy }: UserAssignment): boolean => policy !== undefined && policies.has(policyId);
  const stored = assignments.some(isChanged)
    ? assignments.map((each) => (isChanged(each) ? { ...each, policy: undefined } : each))
    : assignments;
  const changes = userId === undefined ? undefined : userPolicies.get(userId);
  if (changes === undefined) return stored;
  const kept = stored.filter(({ policyId }) => !changes.has(policyId));
  const written = [...changes.values()].filter((assignment) => assignment !== undefined);
  if (kept.length + written.length === 0) return NO_ASSIGNMENTS;
  return [...kept, ...written].sort((a, b) => (a.policyId < b.policyId ? -1 : 1));
}

interface ParsedDraftPolicy {
  readonly policy?: Policy;
  readonly issues: readonly Issue[];
}

function parseDraftPolicy(given: Json, index: number, context: DraftContext): ParsedDraftPolicy {
  const at = `policies.${index}`;
  const id = isObject(given) ? ownValue(given, 'id') : undefined;
  const existing = id === undefined ? undefined : context.stored.find((policy) => policy.id === id);
  const isUnknown = id !== undefined && existing === undefined;
  const { policy, issues } = parsePolicy(isUnknown ? withoutId(given as JsonObject) : given, { ...context, existing });
  const found = issues.map((issue) => ({ ...issue, path: issue.path === '' ? at : `${at}.${issue.path}` }));
  if (isUnknown) return { issues: [{ path: `${at}.id`, code: 'reference', detail: 'no policy has this id' }, ...found] };
  return policy === undefined ? { issues: found } : { policy: toDraftPolicy(policy, { index, existing, now: context.now }), issues: found };
}

function withoutId({ id: _, ...others }: JsonObject): JsonObject {
  return others;
}

interface PolicyPlace {
  /** The index in `policies` of the draft. */
  readonly index: number;
  readonly existing: Policy | undefined;
  readonly now: number;
}

/** Returns the policy as it would be stored. New rules get ids behind those of stored rules, in their order, as stored ones would. */
function toDraftPolicy(input: PolicyInput, { index, existing, now }: PolicyPlace): Policy {
  const at = new Date(now).toISOString();
  const id = existing?.id ?? temporaryId(index);
  const createdAt = new Map(existing?.rules.map((rule) => [rule.id, rule.createdAt]));
  return {
    ...input,
    id,
    createdBy: input.createdBy ?? '',
    createdAt: existing?.createdAt ?? at,
    updatedAt: at,
    version: existing?.version ?? 0,
    rules: input.rules.map((rule, position) => ({
      ...rule,
      id: rule.id ?? `draft:${padded(index)}.${padded(position)}`,
      policyId: id,
      createdAt: createdAt.get(rule.id ?? '') ?? at,
    })),
  };
}

/** Returns a number whose order as text is its order as a number. */
function padded(index: number): string {
  return String(index).padStart(5, '0');
}

function toDraft(body: DraftBody, policies: readonly Policy[], context: DraftContext): AccessDraft {
  const { assignments = [], removePolicies = [], removeAssignments = [] } = body;
  const rolePolicies = new Map<string, RolePolicy | undefined>();
  const userPolicies = new Map<string, Map<string, UserAssignment | undefined>>();
  const setUser = ({ userId = '', policyId }: DraftAssignment, value: UserAssignment | undefined) => {
    const own = userPolicies.get(userId) ?? new Map<string, UserAssignment | undefined>();
    userPolicies.set(userId, own.set(policyId, value));
  };
  for (const item of assignments) {
    if (item.role === undefined) setUser(item, toUserAssignment(item, context));
    else {
      const written = toRolePolicy(item, findRolePolicy(context.snapshot, item), context.now);
      rolePolicies.set(written.id, written);
    }
  }
  for (const item of removeAssignments) {
    const stored = findRolePolicy(context.snapshot, item);
    if (item.role === undefined) setUser(item, undefined);
    else if (stored !== undefined) rolePolicies.set(stored.id, undefined);
  }
  const written = policies.map((policy) => [policy.id, policy] as const);
  return { policies: new Map([...written, ...removePolicies.map((id) => [id, undefined] as const)]), rolePolicies, userPolicies };
}

function findRolePolicy({ rolesByPolicy }: PolicySnapshot, { role, policyId }: DraftAssignment): RolePolicy | undefined {
  return rolesByPolicy.get(policyId)?.find((assignment) => assignment.role === role);
}

/** Returns the written assignment to a user. Without `expiresAt`, it keeps the expiry of the stored one, unless that has passed: the write renews it. */
function toUserAssignment({ userId = '', policyId, expiresAt }: DraftAssignment, { assignmentsOf, now }: DraftContext): UserAssignment {
  const stored = assignmentsOf(userId).find((assignment) => assignment.policyId === policyId && now < assignment.expiresAt);
  const given = typeof expiresAt === 'string' ? parseInstant(expiresAt) : undefined;
  const unchanged = expiresAt === undefined ? stored?.expiresAt : undefined;
  return { policyId, expiresAt: given ?? unchanged ?? Number.POSITIVE_INFINITY };
}

function toRolePolicy({ role, policyId, priority }: DraftAssignment, stored: RolePolicy | undefined, now: number): RolePolicy {
  return {
    id: stored?.id ?? `draft:${role} ${policyId}`,
    role: role as AssignableRole,
    policyId,
    assignedBy: stored?.assignedBy ?? '',
    assignedAt: stored?.assignedAt ?? new Date(now).toISOString(),
    isActive: true,
    // Adding 0 turns -0 into 0.
    priority: (priority ?? stored?.priority ?? DEFAULT_PRIORITY) + 0,
    version: stored?.version ?? 0,
  };
}
