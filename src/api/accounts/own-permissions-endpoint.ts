import { RULE_ACTIONS } from '../../actions.ts';
import { authenticate, withAuditMode, withUnitOfWork } from '../../pipeline/index.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { component, Input, OneOf, Type } from '../../schemas/index.ts';
import { COUNTED, name } from '../schema-members.ts';
import { authEndpoint, NO_STORE } from './auth-endpoint.ts';
import { evaluateOwnPermissions, type OwnPermissions } from './own-permissions.ts';

/** Maximum number of records of a question. */
const MAX_IDS = 100;

const PERMISSION = component(
  'api.OwnPermission',
  Type.Object({
    id: Type.Optional(Type.String({ description: 'Id of the record, if the question names records.' })),
    action: OneOf(RULE_ACTIONS),
    effect: OneOf(['allow', 'deny', 'conditional'] as const),
    reason: Type.String({ description: 'Of a denial, the `detail` that the request would get.' }),
    rule: Type.Optional(Type.String({ description: 'The rule that denies: its description, or its id.' })),
    policy: Type.Optional(Type.String({ description: 'The name of its policy.' })),
  }),
);

/** The endpoint with which any caller asks what they may do, and why not. */
export const ownPermissionsEndpoint = authEndpoint({
  method: 'POST',
  path: '/auth/me/permissions',
  id: 'auth.me.permissions',
  summary: 'Decides what the caller may do with a resource, or with some of its records, without doing it.',
  description:
    'An effect is `conditional` if it depends on the record or on the request. An id without a record gets the same answer as a record that the caller may not access. The values of the records are not shown. About the audit log, only `read` and `export` can be asked.',
  caller: 'anyone',
  body: Input({
    resource: name('Name of a resource, or `_Decision` for the audit log.'),
    ids: Type.Optional(Type.Array(name('Id of a record.'), { minItems: 1, maxItems: MAX_IDS, description: 'Default: any record.' })),
    actions: Type.Optional(
      Type.Array(OneOf(RULE_ACTIONS), {
        minItems: 1,
        maxItems: RULE_ACTIONS.length,
        description:
          'Default: all actions; with `ids`, all but `create` and `import`, which have no stored record; about `_Decision`, `read` and `export`.',
      }),
    ),
  }),
  bodyExample: { resource: 'Article', ids: ['01890a5d-ac96-774b-bcce-b302099a8057'], actions: ['update'] },
  answers: {
    200: {
      description: 'One item for each action and record.',
      schema: envelope(Type.Array(PERMISSION), COUNTED),
      example: toSuccess(
        [
          {
            ...{ id: '01890a5d-ac96-774b-bcce-b302099a8057', action: 'update', effect: 'deny' },
            reason: 'denied by rule "published articles stay" of policy "Newsroom"',
            ...{ rule: 'published articles stay', policy: 'Newsroom' },
          },
        ],
        { count: 1 },
      ),
      headers: ['X-Decision-Id'],
    },
  },
  problems: [404],
  async handle({ deps, request, body, charge }) {
    charge(body.ids?.length ?? 1);
    const caller = await authenticate(deps, request.origin);
    const withEntryIds = (result: OwnPermissions, findEntryId: (id: string) => string): OwnPermissions => ({
      ...result,
      decisionId: findEntryId(result.decisionId),
    });
    const { permissions, decisionId } = await withAuditMode(deps, (isAudited) =>
      withUnitOfWork(deps, { caller, withEntryIds }, (unit) => evaluateOwnPermissions(unit, body, isAudited)),
    );
    return respond(200, toSuccess(permissions, { count: permissions.length }), { ...NO_STORE, 'x-decision-id': decisionId });
  },
});
