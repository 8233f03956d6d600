import { loadUserActivity } from '../../authn/index.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { component, Input, Type } from '../../schemas/index.ts';
import { countUserAssignments, loadUserPage } from '../../storage/index.ts';
import { toUserSummary } from '../access/index.ts';
import { type AdminEndpoint, adminEndpoint, parseIdCursor, toIdCursor } from '../admin/index.ts';
import { COUNT, cursor, limit, name, PAGED, TEXT, TIMESTAMP } from '../schema-members.ts';

const PAGE = { max: 500, fallback: 50, of: 'users' };
/** Maximum number of characters of a search. */
const MAX_SEARCH = 200;

const LISTED_USER = component(
  'admin.ListedUser',
  Type.Object({
    id: TEXT,
    name: Type.Optional(TEXT),
    email: TEXT,
    role: TEXT,
    isActive: Type.Boolean(),
    createdAt: TIMESTAMP,
    lastLoginAt: Type.Optional({
      ...TIMESTAMP,
      description: 'Time of the last login with a password. Absent without one in the last 90 days.',
    }),
    hasSession: Type.Boolean({ description: 'True if the user has an open session.' }),
    assignments: { ...COUNT, description: 'Number of assignments of policies to the user, without those to the role.' },
  }),
);

/** The endpoint that lists users for admins. */
export const userListEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'GET',
    path: '/users',
    id: 'users.list',
    tag: 'Admin assignments',
    summary: 'Lists users with the fields that admins assign policies by, in the order of their ids.',
    description: 'No policy applies, and only built-in fields are shown. Lists of the resource User show all fields, as policies allow.',
    query: Input({
      search: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: MAX_SEARCH,
          description: 'Only users whose name or email contains this text, in any case.',
        }),
      ),
      role: Type.Optional(name('Only users of this role.')),
      isActive: Type.Optional(Type.Boolean({ description: 'Only active (true) or inactive (false) users.' })),
      policyId: Type.Optional(name('Only users with an assignment of their own of this policy.')),
      limit: limit(PAGE),
      cursor: cursor(),
    }),
    answers: {
      200: {
        description: 'The users.',
        schema: envelope(Type.Array(LISTED_USER), PAGED),
        example: toSuccess(
          [
            {
              id: '0198c0de-0000-7000-8000-00000000000b',
              name: 'Cleo',
              email: 'cleo@example.com',
              role: 'user',
              isActive: true,
              createdAt: '2026-01-31T09:00:00.000Z',
              lastLoginAt: '2026-03-02T10:00:00.000Z',
              hasSession: true,
              assignments: 2,
            },
          ],
          { count: 1 },
        ),
      },
    },
    async handle({ tx, snapshot, query: { limit: most = PAGE.fallback, cursor: given, ...filter } }) {
      const after = given === undefined ? undefined : parseIdCursor('user', given);
      const found = await loadUserPage(tx, snapshot.user, { ...filter, after, limit: most + 1 });
      const ids = found.slice(0, most).map(({ id }) => id);
      const [activity, assignments] = [await loadUserActivity(tx, ids), await countUserAssignments(tx, ids)];
      const users = found.slice(0, most).map((user) => ({
        ...toUserSummary(user),
        isActive: user['isActive'] === true,
        createdAt: String(user['createdAt']),
        ...(activity.get(user.id) ?? { hasSession: false }),
        assignments: assignments.get(user.id) ?? 0,
      }));
      const last = users.at(-1);
      const next = found.length > most && last !== undefined ? { nextCursor: toIdCursor('user', last.id) } : {};
      return respond(200, toSuccess(users, { count: users.length, ...next }));
    },
  }),
];
