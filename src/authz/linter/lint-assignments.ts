import { didYouMean } from '../../errors.ts';
import type { Definitions } from '../../resources/index.ts';
import type { Policy, RolePolicy, UserPolicy } from '../policies/index.ts';
import { type Finding, joinNames } from './finding.ts';

/** A policy's assignments that are active; expired ones are among them. */
export interface ActiveAssignments {
  readonly roles: readonly RolePolicy[];
  /** Those that expire first, and no more than were asked for. */
  readonly users: readonly UserPolicy[];
  /** Whether `users` are all of them. */
  readonly all: boolean;
}

/** What advice on an assignment goes by. */
interface Moment {
  readonly definitions: Definitions;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** How long before an assignment expires it is told: seven days. */
const SOON = 7 * 24 * 3_600_000;
/** Users named in one advice. */
const USERS_NAMED = 20;

/** What to know of whom a policy is assigned to. One that is not active may be kept ready, or put aside: nothing is said of that. */
export function lintAssignments({ id, name, isActive }: Policy, assignments: ActiveAssignments, moment: Moment): readonly Finding[] {
  const { roles, users } = assignments;
  const policy = { id, name };
  return [
    ...(isActive && roles.length + users.length === 0 ? [unassigned(policy)] : []),
    ...roles.flatMap((assignment) => adviseOnRole(policy, assignment, moment.definitions)),
    ...adviseOnExpired(policy, users, moment),
    ...adviseOnExpiring(policy, users, moment),
  ];
}

/** What keeps an assignment that was just written from giving anything. When it expires has just been said. */
export function lintAssignment(policy: Policy, assignment: UserPolicy | RolePolicy, moment: Moment): readonly Finding[] {
  if (!assignment.isActive) return [];
  return [
    ...(policy.isActive ? [] : [inactive(policy)]),
    ...('userId' in assignment ? adviseOnExpired(policy, [assignment], moment) : adviseOnRole(policy, assignment, moment.definitions)),
  ];
}

type Named = Finding['policy'];

function unassigned(policy: Named): Finding {
  const detail = 'the policy is active and assigned to nobody: it allows nothing and denies nothing';
  return { code: 'unassigned', detail, todo: 'assign it to a user or a role, or delete it', policy };
}

function inactive({ id, name }: Policy): Finding {
  const detail = 'the policy is assigned and not active: it allows nothing and denies nothing';
  return {
    code: 'assigned-inactive',
    detail,
    todo: 'say "isActive": true, or take its assignments away',
    policy: { id, name },
    path: 'isActive',
  };
}

function adviseOnRole(policy: Named, { role }: RolePolicy, definitions: Definitions): readonly Finding[] {
  const roles = definitions.get('User')?.fields.get('role')?.values ?? [];
  if (roles.includes(role)) return [];
  const near = didYouMean(role, roles);
  const detail = `no user can have role "${role}"${near}: only the token of another issuer could bring it`;
  return [{ code: 'unknown-role', detail, todo: `add "${role}" to the values of "role" in the definition of User`, policy, role }];
}

function adviseOnExpired({ id, name }: Named, users: readonly UserPolicy[], { now }: Moment): readonly Finding[] {
  const expired = users.filter((assignment) => isExpired(assignment, now));
  return adviseOnUsers({ id, name }, expired, {
    code: 'expired',
    detail: 'has expired and gives nothing any more',
    todo: 'take it away, or give it another "expiresAt"',
  });
}

function adviseOnExpiring(policy: Named, users: readonly UserPolicy[], { now }: Moment): readonly Finding[] {
  const soon = users.filter((assignment) => isExpired(assignment, now + SOON) && !isExpired(assignment, now));
  const [first, ...others] = soon.flatMap(({ expiresAt = '' }) => expiresAt).sort();
  return adviseOnUsers(policy, soon, {
    code: 'expires-soon',
    detail: `expires within seven days, ${others.length > 0 ? 'the first ' : ''}at ${first}`,
    todo: 'give it another "expiresAt" where it shall go on',
  });
}

/** Whether an assignment no longer applies. */
export function isExpired({ expiresAt }: UserPolicy, now: number): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= now;
}

/** One advice for all of them: a policy may be assigned to thousands. */
function adviseOnUsers(
  policy: Named,
  assignments: readonly UserPolicy[],
  { code, detail, todo }: Pick<Finding, 'code' | 'detail' | 'todo'>,
): readonly Finding[] {
  if (assignments.length === 0) return [];
  const users = assignments.map(({ userId }) => userId);
  const [subject, comma] = users.length === 1 ? ['the assignment to user', ''] : [`each of ${users.length} assignments, to users`, ','];
  return [{ code, detail: `${subject} ${joinNames(users)}${comma} ${detail}`, todo, policy, users: users.slice(0, USERS_NAMED) }];
}
