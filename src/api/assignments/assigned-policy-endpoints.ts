import type { Policy, RolePolicy, UserPolicy } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { Input, OneOf, Type } from '../../schemas/index.ts';
import { type AssignedPolicy, type Assignee, createAnswerSize, loadAssignedPage } from '../../storage/index.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint, parseIdCursor, toIdCursor } from '../admin/index.ts';
import { ASSIGNED_POLICY, POLICY_EXAMPLE, ROLE_POLICY_EXAMPLE } from '../policies/index.ts';
import { cursor, limit, name, PAGED_BY_SIZE, pageEnded } from '../schema-members.ts';

const LISTED = {
  200: {
    description: 'The policies, each with its assignment.',
    schema: envelope(Type.Array(ASSIGNED_POLICY), PAGED_BY_SIZE),
    example: toSuccess([{ ...POLICY_EXAMPLE, assignment: ROLE_POLICY_EXAMPLE }], { count: 1 }),
  },
} as const;

const PAGE = { max: 1000, fallback: 100, of: 'policies' };
const PAGE_QUERY = { limit: limit(PAGE), cursor: cursor() };

/** Endpoints that list the policies assigned to a user or a role. */
export const assignedPolicyEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'GET',
    path: '/users/:userId/policies',
    id: 'assignments.ofUser',
    tag: 'Admin assignments',
    summary: 'Lists the policies assigned to a user; with `role`, also those of the role.',
    params: Input({ userId: name('Id of the user.') }),
    query: Input({ role: Type.Optional(OneOf(ASSIGNABLE_ROLES, { description: 'Also list the policies of this role.' })), ...PAGE_QUERY }),
    answers: LISTED,
    handle: async ({ params: { userId }, query, ...admin }) =>
      respondPage(admin, query.role === undefined ? [{ userId }] : [{ userId }, { role: query.role }], query),
  }),
  adminEndpoint({
    method: 'GET',
    path: '/roles/:role/policies',
    id: 'assignments.ofRole',
    tag: 'Admin assignments',
    summary: 'Lists the policies assigned to a role.',
    params: Input({ role: OneOf(ASSIGNABLE_ROLES, { description: 'The role.' }) }),
    query: Input(PAGE_QUERY),
    answers: LISTED,
    handle: async ({ params: { role }, query, ...admin }) => respondPage(admin, [{ role }], query),
  }),
];

interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** Responds with a page of the policies assigned to a user, to a role, or first to the user and then to the role. */
async function respondPage(
  { tx, deps: { pageBytes } }: Pick<AdminRequest, 'tx' | 'deps'>,
  assignees: readonly Assignee[],
  { limit: most = PAGE.fallback, cursor: given }: PageQuery,
) {
  const start = given === undefined ? 0 : assignees.findIndex((assignee) => isCursorOf(assignee, given));
  if (start < 0) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before');
  const found: AssignedPolicy[] = [];
  const size = createAnswerSize(pageBytes);
  let isCut = false;
  for (const [index, assignee] of assignees.slice(start).entries()) {
    const after = given === undefined || index > 0 ? undefined : parseIdCursor(kindOfCursor(assignee), given);
    if (isCut || found.length > most) break;
    const page = await loadAssignedPage(tx, assignee, { after, limit: most + 1 - found.length, size });
    found.push(...page.assigned);
    ({ isCut } = page);
  }
  const policies = found.slice(0, most).map(withAssignment);
  const last = policies.at(-1)?.assignment;
  const next = (isCut || found.length > most) && last !== undefined ? { nextCursor: toIdCursor(kindOfCursor(last), last.policyId) } : {};
  const warned = isCut && found.length < most ? { warnings: [pageEnded(pageBytes)] } : {};
  return respond(200, toSuccess(policies, { count: policies.length, ...next, ...warned }));
}

function kindOfCursor(assignee: Assignee | UserPolicy | RolePolicy): 'userPolicy' | 'rolePolicy' {
  return 'userId' in assignee ? 'userPolicy' : 'rolePolicy';
}

function isCursorOf(assignee: Assignee, given: string): boolean {
  return Buffer.from(given, 'base64url')
    .toString()
    .startsWith(`${kindOfCursor(assignee)} `);
}

/** Returns a policy with its assignment. */
function withAssignment({ policy, assignment }: AssignedPolicy): Policy & Pick<AssignedPolicy, 'assignment'> {
  return { ...policy, assignment };
}
