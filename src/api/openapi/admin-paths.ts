import { POLICY_TYPES } from '../../authz/policies/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { adminOperation, arrayOf, objectOf, pathParameter, queryParameter, schemaRef, success } from './openapi-operation.ts';

const TEXT: JsonObject = { type: 'string' };
const COUNT: JsonObject = { count: { type: 'integer' } };
const MESSAGE: JsonObject = { message: TEXT };
const POLICY: JsonObject = schemaRef('admin.Policy');
const DONE: JsonObject = objectOf({ success: { const: true }, message: TEXT });
const WARNINGS: JsonObject = {
  warnings: { ...arrayOf(schemaRef('admin.Advice')), description: 'Findings about the written policy or assignment. At most 100.' },
  warningsTruncated: {
    const: true,
    description: 'There are more findings; `GET /admin/api/policies-advice?policyId=…` lists all.',
  },
};
const POLICY_ID: JsonObject = pathParameter('id', 'Id of the policy.');

const IMPORTED: JsonObject = objectOf(
  Object.fromEntries(['created', 'updated', 'unchanged', 'assigned'].map((name) => [name, { type: 'integer' }])),
);

const policyPaths: JsonObject = {
  '/policies': {
    get: adminOperation('policies', 'policies.list', {
      summary: 'Lists policies with their rules.',
      parameters: [
        queryParameter('isActive', 'Only active (true) or inactive (false) policies.', { type: 'boolean' }),
        queryParameter('type', 'Only policies of this type.', { type: 'string', enum: [...POLICY_TYPES] }),
      ],
      answers: { 200: { description: 'The policies.', schema: success(arrayOf(POLICY), COUNT) } },
    }),
    post: adminOperation('policies', 'policies.create', {
      summary: 'Creates a policy. The response lists every mistake.',
      body: schemaRef('admin.PolicyInput'),
      answers: {
        201: { description: 'The policy.', schema: success(POLICY, { ...MESSAGE, ...WARNINGS }), headers: ['Location', 'ETag'] },
      },
      problems: [409, 422],
    }),
  },
  '/policies/{id}': {
    get: adminOperation('policies', 'policies.read', {
      summary: 'Returns a policy with its rules.',
      parameters: [POLICY_ID],
      answers: { 200: { description: 'The policy.', schema: success(POLICY), headers: ['ETag'] } },
      problems: [404],
    }),
    put: adminOperation('policies', 'policies.update', {
      summary: 'Changes the given members. The change applies to every request that starts after the response.',
      parameters: [POLICY_ID, 'ifMatch'],
      body: schemaRef('admin.PolicyChange'),
      answers: {
        200: { description: 'The policy as it is now.', schema: success(POLICY, { ...MESSAGE, ...WARNINGS }), headers: ['ETag'] },
      },
      problems: [404, 409, 412, 422, 428],
    }),
    delete: adminOperation('policies', 'policies.delete', {
      summary: 'Deletes a policy, its rules and its assignments. Its history is kept.',
      parameters: [POLICY_ID, 'ifMatch'],
      answers: { 200: { description: 'Deleted.', schema: DONE } },
      problems: [404, 412, 428],
    }),
  },
  '/policies/import': {
    post: adminOperation('policies', 'policies.import', {
      summary:
        'Creates, replaces and assigns policies, identified by name: all or none, in one revision. The response lists every mistake.',
      parameters: [queryParameter('dryRun', 'Validate and count, but store nothing.', { type: 'boolean' })],
      body: objectOf({ policies: arrayOf(schemaRef('admin.PolicyImport')), dryRun: { type: 'boolean', default: false } }, ['policies']),
      otherBodies: {
        'application/json': arrayOf(schemaRef('admin.PolicyImport')),
        'application/x-ndjson': lineByLine(schemaRef('admin.PolicyImport')),
      },
      answers: { 200: { description: 'The number of policies and assignments.', schema: success(IMPORTED, MESSAGE) } },
      problems: [422],
    }),
  },
  '/policies/export': {
    get: adminOperation('policies', 'policies.export', {
      summary: 'Exports all policies with the roles that they are assigned to. `data` is a valid body of an import.',
      parameters: [
        queryParameter('format', '`json` (default), or `ndjson` with one policy per line.', {
          type: 'string',
          enum: ['json', 'ndjson'],
        }),
      ],
      answers: {
        200: {
          description: 'The policies.',
          schema: success(objectOf({ policies: arrayOf(POLICY) }), COUNT),
          files: { 'application/x-ndjson': lineByLine(POLICY) },
        },
      },
    }),
  },
  '/policies-templates': {
    get: adminOperation('policies', 'templates.list', {
      summary: 'Lists ready-made policies. Each `template` is a valid body of `POST /admin/api/policies`.',
      answers: { 200: { description: 'The templates.', schema: success(arrayOf(schemaRef('admin.Template')), COUNT) } },
    }),
  },
};

interface AssignmentKind {
  readonly id: string;
  readonly to: string;
  readonly parameter: JsonObject;
  readonly schema: string;
}

const ASSIGNED_POLICY: JsonObject = pathParameter('policyId', 'Id of the policy.');

function assignmentPath({ id, to, parameter, schema }: AssignmentKind): JsonObject {
  const parameters = [ASSIGNED_POLICY, parameter];
  const body = schemaRef(`${schema}Input`);
  const assigned = success(schemaRef(schema), { ...MESSAGE, ...WARNINGS });
  return {
    get: adminOperation('assignments', `assignments.${id}.read`, {
      summary: `Returns the assignment of the policy to the ${to}.`,
      parameters,
      answers: { 200: { description: 'The assignment.', schema: success(schemaRef(schema)), headers: ['ETag'] } },
      problems: [404, 422],
    }),
    post: adminOperation('assignments', `assignments.${id}.create`, {
      summary: `Assigns the policy to the ${to}. An inactive or expired assignment is renewed; an active one gives 409.`,
      parameters: [...parameters, 'ifMatch'],
      body,
      bodyRequired: false,
      answers: {
        200: { description: 'The renewed assignment.', schema: assigned, headers: ['ETag'] },
        201: { description: 'The assignment.', schema: assigned, headers: ['ETag'] },
      },
      problems: [404, 409, 412, 422, 428],
    }),
    put: adminOperation('assignments', `assignments.${id}.update`, {
      summary: 'Changes the assignment.',
      parameters: [...parameters, 'ifMatch'],
      body,
      answers: { 200: { description: 'The assignment as it is now.', schema: assigned, headers: ['ETag'] } },
      problems: [404, 412, 422, 428],
    }),
    delete: adminOperation('assignments', `assignments.${id}.delete`, {
      summary: 'Removes the assignment. It does not apply to requests that start after the response.',
      parameters: [...parameters, 'ifMatch'],
      answers: { 200: { description: 'Removed.', schema: DONE } },
      problems: [404, 412, 428],
    }),
  };
}

const ROLE: JsonObject = { type: 'string', enum: [...ASSIGNABLE_ROLES] };

const assignmentPaths: JsonObject = {
  '/policies/{policyId}/assign/user/{userId}': assignmentPath({
    id: 'user',
    to: 'user',
    parameter: pathParameter('userId', 'Id of the user.'),
    schema: 'admin.UserPolicy',
  }),
  '/policies/{policyId}/assign/role/{role}': assignmentPath({
    id: 'role',
    to: 'role',
    parameter: pathParameter('role', 'The role.', ROLE),
    schema: 'admin.RolePolicy',
  }),
  '/users/{userId}/policies': {
    get: adminOperation('assignments', 'assignments.ofUser', {
      summary: 'Lists the policies assigned to a user; with `role`, also those of the role.',
      parameters: [pathParameter('userId', 'Id of the user.'), queryParameter('role', 'Also list the policies of this role.', ROLE)],
      answers: { 200: { description: 'The policies.', schema: success(arrayOf(POLICY), COUNT) } },
      problems: [404],
    }),
  },
  '/roles/{role}/policies': {
    get: adminOperation('assignments', 'assignments.ofRole', {
      summary: 'Lists the policies assigned to a role.',
      parameters: [pathParameter('role', 'The role.', ROLE)],
      answers: { 200: { description: 'The policies.', schema: success(arrayOf(POLICY), COUNT) } },
      problems: [404],
    }),
  },
};

/** All paths under `/admin/api`. */
export const adminPaths: JsonObject = Object.fromEntries(
  Object.entries({ ...policyPaths, ...assignmentPaths }).map(([path, item]) => [`/admin/api${path}`, item]),
);

/** Returns the schema of an NDJSON text whose lines match `schema`. */
function lineByLine(schema: JsonObject): JsonObject {
  return { type: 'string', contentMediaType: 'application/x-ndjson', contentSchema: schema };
}
