import { RULE_ACTIONS } from '../../actions.ts';
import { authenticate, withUnitOfWork } from '../../pipeline/index.ts';
import { envelope, matchesIfNoneMatch, NO_CONTENT, respond, toSuccess } from '../../request/index.ts';
import { component, OneOf, Type } from '../../schemas/index.ts';
import { RESOURCE_DESCRIPTION, resourceDescriptionExample } from '../records/index.ts';
import { describeTables, exampleTables, TABLES, toContentETag } from '../system/index.ts';
import { authEndpoint } from './auth-endpoint.ts';
import { loadOwnResources } from './own-resources.ts';

const PERMISSIONS = Type.Array(Type.Object({ action: OneOf(RULE_ACTIONS), effect: OneOf(['allow', 'conditional'] as const) }), {
  description: 'The actions that are not denied. `conditional`: depends on the record or on the request.',
});

const OWN_CATALOGUE = component(
  'api.OwnCatalogue',
  Type.Object({
    resources: Type.Array(Type.Object({ definition: RESOURCE_DESCRIPTION, permissions: PERMISSIONS }), {
      description: 'The resources on which the caller may be allowed an action, with their fields that are not secret.',
    }),
    auditLog: Type.Optional(Type.Object({ permissions: PERMISSIONS }, { description: 'Absent if the caller may not read the audit log.' })),
    ...TABLES,
  }),
);

/** The endpoint that describes the resources a caller may use, for navigation and forms. */
export const ownCatalogueEndpoint = authEndpoint({
  method: 'GET',
  path: '/auth/me/catalogue',
  id: 'auth.me.catalogue',
  summary: 'Returns the definitions of the resources on which the caller may be allowed an action, with these actions.',
  description:
    'A resource on which every action is denied is left out, and references to it do not name it. Shows neither records, secret fields nor rules, and has no audit entry. If the header `If-None-Match` has the ETag of the catalogue, the response is 304.',
  caller: 'anyone',
  ifNoneMatch: true,
  answers: {
    200: {
      description: 'The catalogue.',
      schema: envelope(OWN_CATALOGUE),
      headers: ['ETag'],
      example: toSuccess({
        resources: [
          {
            definition: resourceDescriptionExample('Article', 'What the newsroom publishes.'),
            permissions: [
              { action: 'read', effect: 'allow' },
              { action: 'update', effect: 'conditional' },
            ],
          },
        ],
        ...exampleTables(),
      }),
    },
    304: { description: 'The catalogue has not changed.', schema: NO_CONTENT, headers: ['ETag'] },
  },
  async handle({ deps, request }) {
    const caller = await authenticate(deps, request.origin);
    const own = await withUnitOfWork(deps, { caller }, loadOwnResources);
    const catalogue = { ...own, ...describeTables() };
    const etag = toContentETag(catalogue);
    if (matchesIfNoneMatch(request.header('if-none-match'), etag)) return respond(304, undefined, { etag });
    return respond(200, toSuccess(catalogue), { etag });
  },
});
