import { didYouMean } from '../../errors.ts';
import type { Definitions } from '../../resources/index.ts';
import type { Policy, RolePolicy, UserPolicy } from '../policies/index.ts';
import { type Finding, joinNames, type UnratedFinding, withLevel } from './finding.ts';
import type { ActiveAssignments } from './lint-context.ts';

interface AssignmentContext {
  readonly definitions: Definitions;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Milliseconds before its expiry from which an assignment is reported: seven days. */
const SOON = 7 * 24 * 3_600_000;
/** Maximum number of user ids in one finding. */
const MAX_USERS = 20;

/** Returns the findings about the assignments of a policy. An inactive policy without assignments is not reported: it may be kept for later. */
export function lintAssignments(
  { id, name, isActive }: Policy,
  assignments: ActiveAssignments,
  context: AssignmentContext,
): readonly UnratedFinding[] {
  const { roles, users } = assignments;
  const policy = { id, name };
  return [
    ...(isActive && roles.length + users.length === 0 ? [unassigned(policy)] : []),
    ...roles.flatMap((assignment) => lintRole(policy, assignment, context.definitions)),
    ...lintExpired(policy, users, context),
    ...lintExpiring(policy, users, context),
  ];
}

/** Returns the reasons why an assignment that was just written has no effect. */
export function lintAssignment(policy: Policy, assignment: UserPolicy | RolePolicy, context: AssignmentContext): readonly Finding[] {
  if (!assignment.isActive) return [];
  return [
    ...(policy.isActive ? [] : [inactive(policy)]),
    ...('userId' in assignment ? lintExpired(policy, [assignment], context) : lintRole(policy, assignment, context.definitions)),
  ].map(withLevel);
}

type NamedPolicy = Finding['policy'];

function unassigned(policy: NamedPolicy): UnratedFinding {
  const detail = 'the policy is active but has no assignments, so it has no effect';
  return { code: 'unassigned', detail, todo: 'assign it to a user or a role, or delete it', policy };
}

function inactive({ id, name }: Policy): UnratedFinding {
  return {
    code: 'assigned-inactive',
    detail: 'the policy is assigned but inactive, so it has no effect',
    todo: 'set "isActive" to true, or remove its assignments',
    policy: { id, name },
    path: 'isActive',
  };
}

function lintRole(policy: NamedPolicy, { role }: RolePolicy, definitions: Definitions): readonly UnratedFinding[] {
  const roles = definitions.get('User')?.fields.get('role')?.values ?? [];
  if (roles.includes(role)) return [];
  const near = didYouMean(role, roles);
  const detail = `no user can have role "${role}"${near}: only a token of another issuer can contain it`;
  return [{ code: 'unknown-role', detail, todo: `add "${role}" to the values of "role" in the definition of User`, policy, role }];
}

function lintExpired({ id, name }: NamedPolicy, users: readonly UserPolicy[], { now }: AssignmentContext): readonly UnratedFinding[] {
  const expired = users.filter((assignment) => isExpired(assignment, now));
  return toUserFinding({ id, name }, expired, {
    code: 'expired',
    detail: 'has expired and no longer applies',
    todo: 'remove it, or set a later "expiresAt"',
  });
}

function lintExpiring(policy: NamedPolicy, users: readonly UserPolicy[], { now }: AssignmentContext): readonly UnratedFinding[] {
  const soon = users.filter((assignment) => isExpired(assignment, now + SOON) && !isExpired(assignment, now));
  const [first, ...others] = soon.flatMap(({ expiresAt = '' }) => expiresAt).sort();
  return toUserFinding(policy, soon, {
    code: 'expires-soon',
    detail: `expires within seven days, ${others.length > 0 ? 'the first ' : ''}at ${first}`,
    todo: 'set a later "expiresAt" if the assignment is still needed',
  });
}

/** Returns true if an assignment has expired. */
export function isExpired({ expiresAt }: UserPolicy, now: number): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= now;
}

/** Returns one finding about all the assignments, because a policy may be assigned to thousands of users; none if there are no assignments. */
function toUserFinding(
  policy: NamedPolicy,
  assignments: readonly UserPolicy[],
  { code, detail, todo }: Pick<Finding, 'code' | 'detail' | 'todo'>,
): readonly UnratedFinding[] {
  if (assignments.length === 0) return [];
  const users = assignments.map(({ userId }) => userId);
  const [start, end] = users.length === 1 ? ['the assignment to user', ''] : [`each of ${users.length} assignments (to users`, ')'];
  return [{ code, detail: `${start} ${joinNames(users)}${end} ${detail}`, todo, policy, users: users.slice(0, MAX_USERS) }];
}
