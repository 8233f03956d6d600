import { FINDINGS } from '../../authz/linter/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { adminOperation, arrayOf, objectOf, queryParameter, schemaRef, success } from './openapi-operation.ts';

const TEXT: JsonObject = { type: 'string' };
const CODE: JsonObject = {
  type: 'string',
  enum: [...FINDINGS.keys()],
  description: [...FINDINGS].map(([code, about]) => `\`${code}\`: ${about}.`).join(' '),
};
const RULE: JsonObject = objectOf({ id: TEXT, description: TEXT }, ['description']);
const POLICY: JsonObject = objectOf({ id: TEXT, name: TEXT });

/** Schema of a policy finding. */
export const findingSchemas: JsonObject = {
  'admin.Advice': objectOf(
    {
      code: CODE,
      detail: TEXT,
      todo: { type: 'string', description: 'What to do.' },
      policy: POLICY,
      rule: { ...RULE, description: 'Absent if the finding is about the whole policy.' },
      path: {
        type: 'string',
        description: 'Path of the member, such as `rules.0.conditions`. Absent if the finding is about assignments.',
      },
      other: { ...objectOf({ rule: RULE, policy: POLICY }), description: 'The other rule of a finding about two rules.' },
      users: { ...arrayOf(TEXT), description: 'Ids of users whose assignments the finding is about. At most 20.' },
      role: { type: 'string', description: 'The role whose assignment the finding is about.' },
    },
    ['rule', 'path', 'other', 'users', 'role'],
  ),
};

/** Members of a response to a written policy or assignment. */
export const WARNINGS: JsonObject = {
  warnings: { ...arrayOf(schemaRef('admin.Advice')), description: 'Findings about the written policy or assignment. At most 100.' },
  warningsTruncated: {
    const: true,
    description: 'There are more findings; `GET /admin/api/policies-advice?policyId=…` lists all.',
  },
};

/** The path of policy findings. */
export const findingPaths: JsonObject = {
  '/policies-advice': {
    get: adminOperation('policies', 'advice.list', {
      summary: 'Lists policy findings: rules that are valid but probably wrong, and what to do.',
      description: 'Findings are listed by policy. A page may end early; `nextCursor` is present if more policies follow.',
      parameters: [
        queryParameter('policyId', 'Only findings about this policy.', TEXT),
        queryParameter('code', 'Only findings with this code.', { type: 'string', enum: [...FINDINGS.keys()] }),
        queryParameter('limit', 'Maximum number of policies in the page.', { type: 'integer', minimum: 1, maximum: 1000, default: 100 }),
        queryParameter('cursor', '`nextCursor` of the previous page.', TEXT),
      ],
      answers: {
        200: {
          description: 'The findings.',
          schema: success(arrayOf(schemaRef('admin.Advice')), { count: { type: 'integer' }, nextCursor: TEXT }),
        },
      },
      problems: [404],
    }),
  },
};
