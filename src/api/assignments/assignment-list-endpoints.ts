import { Problem } from '../../errors.ts';
import { toInstantText } from '../../operators/index.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { Input, OneOf, Type } from '../../schemas/index.ts';
import {
  type AssignmentFilter,
  type AssignmentPosition,
  isOrderedByExpiry,
  loadAssignmentPage,
  loadPolicyNames,
} from '../../storage/index.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint } from '../admin/index.ts';
import { BY_ID, loadUserLabels, moment, toTime } from '../decisions/index.ts';
import { ASSIGNMENT, POLICY_EXAMPLE, requirePolicy, USER_POLICY_EXAMPLE, withKind } from '../policies/index.ts';
import { cursor, limit, name, PAGED } from '../schema-members.ts';

const PAGE = { max: 1000, fallback: 100, of: 'assignments' };

const NAMES = Type.Object(
  { users: BY_ID, policies: BY_ID },
  { description: 'Names by id: the name or email of users and of the authors of assignments, and the names of policies.' },
);

const LISTED = {
  200: {
    description: 'The assignments.',
    schema: envelope(Type.Array(ASSIGNMENT), { ...PAGED, names: Type.Optional(NAMES) }),
    example: toSuccess([withKind(USER_POLICY_EXAMPLE)], {
      count: 1,
      names: {
        users: { [USER_POLICY_EXAMPLE.userId]: 'Bo', [USER_POLICY_EXAMPLE.assignedBy]: 'Ada' },
        policies: { [POLICY_EXAMPLE.id]: POLICY_EXAMPLE.name },
      },
    }),
  },
} as const;

const FILTERS = {
  userId: Type.Optional(name('Only assignments to this user.')),
  role: Type.Optional(OneOf(ASSIGNABLE_ROLES, { description: 'Only assignments to this role.' })),
  isActive: Type.Optional(Type.Boolean({ description: 'Only active (true) or inactive (false) assignments.' })),
  expiresBefore: moment('Only assignments that expire before this date or timestamp, in the order of expiry.'),
  expiresAfter: moment('Only assignments that expire at this date or timestamp or later, in the order of expiry.'),
  names: Type.Optional(Type.Boolean({ description: 'True to add the names of users and policies. Default: false.' })),
  limit: limit(PAGE),
  cursor: cursor(),
} as const;

/** The endpoints that list the assignments of policies to users and roles. */
export const assignmentListEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'GET',
    path: '/assignments',
    id: 'assignments.list',
    tag: 'Admin assignments',
    summary: 'Lists assignments to users and roles, in the order of their ids or of their expiry.',
    description: 'Assignments to roles have no expiry: lists with `expiresBefore` or `expiresAfter` contain only assignments to users.',
    query: Input({ policyId: Type.Optional(name('Only assignments of this policy.')), ...FILTERS }),
    answers: LISTED,
    handle: (admin) => respondPage(admin, admin.query),
  }),
  adminEndpoint({
    method: 'GET',
    path: '/policies/:id/assignments',
    id: 'assignments.ofPolicy',
    tag: 'Admin assignments',
    summary: 'Lists the assignments of a policy to users and roles, in the order of their ids or of their expiry.',
    params: Input({ id: name('Id of the policy.') }),
    query: Input(FILTERS),
    answers: LISTED,
    problems: [404],
    async handle(admin) {
      await requirePolicy(admin.tx, admin.params.id);
      return respondPage(admin, { ...admin.query, policyId: admin.params.id });
    },
  }),
];

interface ListQuery extends AssignmentFilter {
  readonly names?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
}

async function respondPage(
  { tx, snapshot }: AdminRequest,
  { names = false, limit: most = PAGE.fallback, cursor: given, ...query }: ListQuery,
) {
  if (query.userId !== undefined && query.role !== undefined) {
    const detail = 'expected userId or role, not both: an assignment is to a user or to a role';
    throw new Problem('REQUEST_PARAMETER', detail, { errors: [{ path: 'role', code: 'conflict', detail }] });
  }
  const filter = { ...query, expiresBefore: toTimestamp(query.expiresBefore), expiresAfter: toTimestamp(query.expiresAfter) };
  const after = given === undefined ? undefined : parsePosition(given, isOrderedByExpiry(filter));
  const found = await loadAssignmentPage(tx, { ...filter, after, limit: most + 1 });
  const assignments = found.slice(0, most).map(withKind);
  const last = assignments.at(-1);
  const next = found.length > most && last !== undefined ? { nextCursor: toPositionCursor(last, isOrderedByExpiry(filter)) } : {};
  const ids = [...new Set(assignments.flatMap(({ userId, assignedBy }) => [assignedBy, ...(userId === undefined ? [] : [userId])]))];
  const policyIds = [...new Set(assignments.map(({ policyId }) => policyId))];
  const named = names
    ? { names: { users: await loadUserLabels(tx, snapshot.user, ids), policies: await loadPolicyNames(tx, policyIds) } }
    : {};
  return respond(200, toSuccess(assignments, { count: assignments.length, ...next, ...named }));
}

/** Returns a validated moment as a canonical timestamp. */
function toTimestamp(given: string | undefined): string | undefined {
  const time = toTime(given);
  return time === undefined ? undefined : toInstantText(time);
}

function toPositionCursor({ id, expiresAt = '' }: AssignmentPosition, isByExpiry: boolean): string {
  return Buffer.from(`assignment ${id}${isByExpiry ? ` ${expiresAt}` : ''}`).toString('base64url');
}

const POSITION = /^assignment ([0-9a-f-]{36})(?: ([0-9T:.+Z-]{20,30}))?$/;

/** Parses a cursor of a list in the given order. @throws Problem REQUEST_CURSOR */
function parsePosition(given: string, isByExpiry: boolean): AssignmentPosition {
  const [, id, expiresAt] = POSITION.exec(Buffer.from(given, 'base64url').toString()) ?? [];
  if (id === undefined || (expiresAt !== undefined) !== isByExpiry)
    throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before');
  return { id, expiresAt };
}
