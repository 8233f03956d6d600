import { EFFECTS } from '../../authz/policies/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { explanationMembers, OPTIONAL_EXPLANATION } from './access-schemas.ts';
import { adminOperation, arrayOf, envelope, objectOf, orNull, pathParameter, schemaRef } from './openapi-operation.ts';

const TEXT: JsonObject = { type: 'string' };

const CONDITIONAL: JsonObject = {
  type: 'boolean',
  description:
    'Allowed where `when` holds: of a list or export, for those records; otherwise, where it depends on how the request is sent.',
};
const EVALUATION: JsonObject = objectOf(
  {
    matched: { type: 'boolean', description: 'Whether a rule of the policy decided.' },
    effect: { type: 'string', enum: [...EFFECTS] },
    policy: objectOf({ id: TEXT, name: TEXT, type: TEXT }),
    conditional: CONDITIONAL,
  },
  ['conditional'],
);

const WARNINGS: JsonObject = {
  ...arrayOf(TEXT),
  description: 'What the test would otherwise hide: nobody has this id, the user is not active, the values would be refused, …',
};

/** The answer of a test, with why. */
function explained(own: JsonObject, optional: readonly string[] = []): JsonObject {
  const members = { allowed: { type: 'boolean' }, reason: TEXT, ...own, ...explanationMembers };
  return envelope(objectOf(members, [...OPTIONAL_EXPLANATION, ...optional]), { warnings: WARNINGS });
}

const testPaths: JsonObject = {
  '/policies/test-access': {
    post: adminOperation('access tests', 'tests.access', {
      summary: 'Says what would be decided for a user, resource, action and time, and why.',
      description:
        'A create is decided on the record that it would make; an update with `data` twice, on the record as it is and as it would become.',
      body: schemaRef('admin.AccessTest'),
      answers: {
        200: {
          description: 'The answer, with its trace.',
          schema: explained(
            {
              matchedPolicy: orNull(objectOf({ id: TEXT, name: TEXT })),
              matchedRule: { type: ['string', 'null'] },
              conditional: CONDITIONAL,
            },
            ['conditional'],
          ),
        },
      },
      problems: [404, 422],
    }),
  },
  '/policies/{id}/test': {
    post: adminOperation('access tests', 'tests.policy', {
      summary: 'The same, as if this policy alone were assigned.',
      parameters: [pathParameter('id', 'Id of the policy.')],
      body: schemaRef('admin.AccessTest'),
      answers: {
        200: {
          description: 'The answer, with its trace.',
          schema: explained({ evaluation: EVALUATION }),
        },
      },
      problems: [404, 422],
    }),
  },
};

const COUNT: JsonObject = { count: { type: 'integer' } };

const aheadPaths: JsonObject = {
  '/policies/who-can': {
    post: adminOperation('access tests', 'tests.whoCan', {
      summary: 'Says which roles and which users could do something, and by which rule.',
      description:
        'Of a role, id and attributes of the user are left open, and of all the request; what then depends on them is `conditional`. Users who are active are decided one by one, in the order of their ids. A page whose time is over ends early: only the absence of `nextCursor` is the end.',
      body: schemaRef('admin.WhoCanQuestion'),
      answers: {
        200: {
          description: 'The roles, and a page of the users.',
          schema: envelope(objectOf({ roles: arrayOf(schemaRef('admin.RoleWhoCan')), users: arrayOf(schemaRef('admin.UserWhoCan')) }), {
            ...COUNT,
            nextCursor: TEXT,
          }),
        },
      },
      problems: [404, 422],
    }),
  },
  '/users/{userId}/permissions': {
    post: adminOperation('access tests', 'tests.permissions', {
      summary: 'Says what a user may do: each resource × each action, and why.',
      parameters: [pathParameter('userId', 'Id of the user.')],
      body: schemaRef('admin.PermissionsQuestion'),
      bodyRequired: false,
      answers: {
        200: {
          description: 'One answer for each resource and action; what depends on record or request is `conditional`.',
          schema: envelope(arrayOf(schemaRef('admin.Permission')), {
            ...COUNT,
            user: objectOf({ id: TEXT, name: TEXT, email: TEXT, role: TEXT, isActive: { type: 'boolean' } }, ['name']),
            nextCursor: { ...TEXT, description: 'Where the answer goes on; absent at its end. It ends early where deciding takes long.' },
            warnings: { ...arrayOf(TEXT), description: 'That the user is not active.' },
          }),
        },
      },
      problems: [404, 422],
    }),
  },
};

/** The addresses under which access is tried out and foreseen. */
export const accessPaths: JsonObject = { ...testPaths, ...aheadPaths };
