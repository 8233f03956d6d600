import { envelope, respond, toSuccess } from '../../request/index.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { Input, OneOf, Type } from '../../schemas/index.ts';
import { type AdminEndpoint, adminEndpoint } from '../admin/index.ts';
import { describeDraft, withDraft } from './access-draft.ts';
import { decideForRole } from './partial-decisions.ts';
import { listPermissions, PERMISSION, PERMISSION_EXAMPLE, PERMISSIONS_PAGED, PERMISSIONS_QUESTION } from './permissions-question.ts';

/** The endpoint that lists the permissions of a role: a decision for every resource and action, for any user of the role. */
export const rolePermissionsEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'POST',
    path: '/roles/:role/permissions',
    id: 'tests.rolePermissions',
    tag: 'Admin access tests',
    summary: 'Lists the permissions of a role: every resource × every action, with reasons.',
    description:
      'The decisions are for any user with the role and without assignments of their own. Conditions on the user, except on `user.role`, stay open: such a decision is `conditional`.',
    params: Input({ role: OneOf(ASSIGNABLE_ROLES, { description: 'The role.' }) }),
    body: PERMISSIONS_QUESTION,
    bodyOptional: true,
    bodyExample: { resources: ['Comment'], environment: { timestamp: '2026-03-02T10:00:00Z' } },
    question: ({ draft }) => describeDraft(draft),
    answers: {
      200: {
        description: 'One decision for each resource and action. It is `conditional` if it depends on the user, the record or the request.',
        schema: envelope(Type.Array(PERMISSION), { ...PERMISSIONS_PAGED, role: OneOf(ASSIGNABLE_ROLES) }),
        example: toSuccess([PERMISSION_EXAMPLE], { role: 'user', count: 1 }),
      },
    },
    async handle(request) {
      const admin = await withDraft(request, request.body.draft);
      const { role } = admin.params;
      const { permissions, extras } = await listPermissions(admin, admin.body, (asked) => decideForRole(admin, asked, role));
      return respond(200, toSuccess(permissions, { role, ...extras }));
    },
  }),
];
