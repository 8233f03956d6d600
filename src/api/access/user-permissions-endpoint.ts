import { Problem } from '../../errors.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { Input, Type } from '../../schemas/index.ts';
import { type AdminEndpoint, adminEndpoint } from '../admin/index.ts';
import { name, TEXT } from '../schema-members.ts';
import { describeDraft, withDraft } from './access-draft.ts';
import { NOT_ACTIVE } from './access-test-warnings.ts';
import { decideForUser, loadIntactUser, toUserSummary } from './partial-decisions.ts';
import { listPermissions, PERMISSION, PERMISSION_EXAMPLE, PERMISSIONS_PAGED, PERMISSIONS_QUESTION } from './permissions-question.ts';

/** The endpoint that lists the permissions of a user: a decision with its reason for every resource and action. */
export const userPermissionsEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'POST',
    path: '/users/:userId/permissions',
    id: 'tests.permissions',
    tag: 'Admin access tests',
    summary: 'Lists the permissions of a user: every resource × every action, with reasons.',
    params: Input({ userId: name('Id of the user.') }),
    body: PERMISSIONS_QUESTION,
    bodyOptional: true,
    bodyExample: { resources: ['Comment'], environment: { timestamp: '2026-03-02T10:00:00Z' } },
    question: ({ draft }) => describeDraft(draft),
    answers: {
      200: {
        description: 'One decision for each resource and action. It is `conditional` if it depends on the record or the request.',
        schema: envelope(Type.Array(PERMISSION), {
          ...PERMISSIONS_PAGED,
          user: Type.Object({ id: TEXT, name: Type.Optional(TEXT), email: TEXT, role: TEXT, isActive: Type.Boolean() }),
          warnings: Type.Optional(Type.Array(TEXT, { description: 'A warning if the user is inactive.' })),
        }),
        example: toSuccess([PERMISSION_EXAMPLE], {
          user: { id: '0198c0de-0000-7000-8000-00000000000b', name: 'Cleo', email: 'cleo@example.com', role: 'user', isActive: true },
          count: 1,
        }),
      },
    },
    problems: [404],
    async handle(request) {
      const admin = await withDraft(request, request.body.draft);
      const user = await loadIntactUser(admin, admin.params.userId);
      if (user === undefined) throw new Problem('USER_UNKNOWN', 'no user has this id');
      const known = { user, assignments: await admin.snapshot.assignments.of(admin.tx, user.id) };
      const { permissions, extras } = await listPermissions(admin, admin.body, (asked) => decideForUser(admin, asked, known));
      const isActive = user['isActive'] === true;
      const warnings = isActive ? {} : { warnings: [NOT_ACTIVE] };
      return respond(200, toSuccess(permissions, { user: { ...toUserSummary(user), isActive }, ...extras, ...warnings }));
    },
  }),
];
