import { FINDINGS } from '../../authz/linter/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { adminOperation, arrayOf, envelope, objectOf, queryParameter, schemaRef } from './openapi-operation.ts';

const TEXT: JsonObject = { type: 'string' };
const CODE: JsonObject = {
  type: 'string',
  enum: [...FINDINGS.keys()],
  description: [...FINDINGS].map(([code, about]) => `\`${code}\`: ${about}.`).join(' '),
};
const RULE: JsonObject = objectOf({ id: TEXT, description: TEXT }, ['description']);
const POLICY: JsonObject = objectOf({ id: TEXT, name: TEXT });

/** One advice. */
export const adviceSchemas: JsonObject = {
  'admin.Advice': objectOf(
    {
      code: CODE,
      detail: TEXT,
      todo: { type: 'string', description: 'What to do about it.' },
      policy: POLICY,
      rule: { ...RULE, description: 'Absent where it is about the policy as a whole.' },
      path: { type: 'string', description: 'Member of the policy: `rules.0.conditions`. Absent where it is about assignments.' },
      other: { ...objectOf({ rule: RULE, policy: POLICY }), description: 'The rule beside which this one is remarkable.' },
      users: { ...arrayOf(TEXT), description: 'Ids of users whose assignments it is about; the first 20.' },
      role: { type: 'string', description: 'The role whose assignment it is about.' },
    },
    ['rule', 'path', 'other', 'users', 'role'],
  ),
};

/** Beside a policy or assignment that was written: advice on it. */
export const WARNINGS: JsonObject = {
  warnings: { ...arrayOf(schemaRef('admin.Advice')), description: 'Advice on what was written, where there is any; the first 100.' },
  warningsTruncated: {
    const: true,
    description: 'There is more than `warnings` shows: `GET /admin/api/policies-advice?policyId=…` has it all.',
  },
};

/** Where advice is asked for. */
export const advicePaths: JsonObject = {
  '/policies-advice': {
    get: adminOperation('policies', 'advice.list', {
      summary:
        'Advice on policies: rules that never decide, contradict or repeat each other, fire where a value is missing, and what to do.',
      description:
        'Policy by policy. A page ends early where looking takes long; `nextCursor` says that there are more policies to look at.',
      parameters: [
        queryParameter('policyId', 'On this policy only, told from its side.', TEXT),
        queryParameter('code', 'Of this kind only.', { type: 'string', enum: [...FINDINGS.keys()] }),
        queryParameter('limit', 'Policies to look at.', { type: 'integer', minimum: 1, maximum: 1000, default: 100 }),
        queryParameter('cursor', '`nextCursor` of the page before.', TEXT),
      ],
      answers: {
        200: {
          description: 'The advice.',
          schema: envelope(arrayOf(schemaRef('admin.Advice')), { count: { type: 'integer' }, nextCursor: TEXT }),
        },
      },
      problems: [404],
    }),
  },
};
