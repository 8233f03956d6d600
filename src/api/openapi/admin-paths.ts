import { RULE_ACTIONS } from '../../actions.ts';
import { POLICY_TYPES } from '../../authz/policies/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { accessPaths } from './access-paths.ts';
import { explanationMembers } from './access-schemas.ts';
import { advicePaths, WARNINGS } from './finding-paths.ts';
import { storagePaths } from './migration-paths.ts';
import { adminOperation, arrayOf, envelope, objectOf, pathParameter, queryParameter, schemaRef } from './openapi-operation.ts';
import { lineByLine } from './transfer-paths.ts';

const TEXT: JsonObject = { type: 'string' };
const COUNT: JsonObject = { count: { type: 'integer' } };
const MESSAGE: JsonObject = { message: TEXT };
const POLICY: JsonObject = schemaRef('admin.Policy');
const DONE: JsonObject = objectOf({ success: { const: true }, message: TEXT });
const POLICY_ID: JsonObject = pathParameter('id', 'Id of the policy.');

const IMPORTED: JsonObject = objectOf(
  Object.fromEntries(['created', 'updated', 'unchanged', 'assigned'].map((name) => [name, { type: 'integer' }])),
);

const policyPaths: JsonObject = {
  '/policies': {
    get: adminOperation('policies', 'policies.list', {
      summary: 'Lists policies with their rules.',
      parameters: [
        queryParameter('isActive', 'Active or inactive ones only.', { type: 'boolean' }),
        queryParameter('type', 'Those of this type only.', { type: 'string', enum: [...POLICY_TYPES] }),
      ],
      answers: { 200: { description: 'The policies.', schema: envelope(arrayOf(POLICY), COUNT) } },
    }),
    post: adminOperation('policies', 'policies.create', {
      summary: 'Creates a policy. Every mistake in it is listed.',
      body: schemaRef('admin.PolicyInput'),
      answers: {
        201: { description: 'The policy.', schema: envelope(POLICY, { ...MESSAGE, ...WARNINGS }), headers: ['Location', 'ETag'] },
      },
      problems: [409, 422],
    }),
  },
  '/policies/{id}': {
    get: adminOperation('policies', 'policies.read', {
      summary: 'Shows a policy with its rules.',
      parameters: [POLICY_ID],
      answers: { 200: { description: 'The policy.', schema: envelope(POLICY), headers: ['ETag'] } },
      problems: [404],
    }),
    put: adminOperation('policies', 'policies.update', {
      summary: 'Changes the members given. In force for every request that begins after the answer.',
      parameters: [POLICY_ID, 'ifMatch'],
      body: schemaRef('admin.PolicyChange'),
      answers: {
        200: { description: 'The policy as it is now.', schema: envelope(POLICY, { ...MESSAGE, ...WARNINGS }), headers: ['ETag'] },
      },
      problems: [404, 409, 412, 422, 428],
    }),
    delete: adminOperation('policies', 'policies.delete', {
      summary: 'Deletes a policy, its rules and its assignments. What it was stays on the record.',
      parameters: [POLICY_ID, 'ifMatch'],
      answers: { 200: { description: 'Deleted.', schema: DONE } },
      problems: [404, 412, 428],
    }),
  },
  '/policies/import': {
    post: adminOperation('policies', 'policies.import', {
      summary:
        'Creates and changes many policies, each known by its name, and assigns them: all or none, in one epoch. Every mistake is listed.',
      parameters: [queryParameter('dryRun', 'Say what would become of them, and store nothing.', { type: 'boolean' })],
      body: objectOf({ policies: arrayOf(schemaRef('admin.PolicyImport')), dryRun: { type: 'boolean', default: false } }, ['policies']),
      otherBodies: {
        'application/json': arrayOf(schemaRef('admin.PolicyImport')),
        'application/x-ndjson': lineByLine(schemaRef('admin.PolicyImport')),
      },
      answers: { 200: { description: 'What became of them.', schema: envelope(IMPORTED, MESSAGE) } },
      problems: [422],
    }),
  },
  '/policies/export': {
    get: adminOperation('policies', 'policies.export', {
      summary: 'Gives every policy with the roles that it is assigned to: `data` is what an import takes.',
      parameters: [
        queryParameter('format', 'As the answer of every address, or a line for each policy.', {
          type: 'string',
          enum: ['json', 'ndjson'],
        }),
      ],
      answers: {
        200: {
          description: 'The policies.',
          schema: envelope(objectOf({ policies: arrayOf(POLICY) }), COUNT),
          files: { 'application/x-ndjson': lineByLine(POLICY) },
        },
      },
    }),
  },
  '/policies-templates': {
    get: adminOperation('policies', 'templates.list', {
      summary: 'Ready-made policies: each `template` is accepted by `POST /admin/api/policies` as it is.',
      answers: { 200: { description: 'The templates.', schema: envelope(arrayOf(schemaRef('admin.Template')), COUNT) } },
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
  const assigned = envelope(schemaRef(schema), { ...MESSAGE, ...WARNINGS });
  return {
    get: adminOperation('assignments', `assignments.${id}.read`, {
      summary: `Shows how the policy is assigned to the ${to}.`,
      parameters,
      answers: { 200: { description: 'The assignment.', schema: envelope(schemaRef(schema)), headers: ['ETag'] } },
      problems: [404, 422],
    }),
    post: adminOperation('assignments', `assignments.${id}.create`, {
      summary: `Assigns the policy to the ${to}. An assignment that is inactive or expired is renewed; one in force answers 409.`,
      parameters: [...parameters, 'ifMatch'],
      body,
      bodyRequired: false,
      answers: {
        200: { description: 'The assignment, renewed.', schema: assigned, headers: ['ETag'] },
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
      summary: 'Takes the assignment away. No request that begins after the answer is allowed by it.',
      parameters: [...parameters, 'ifMatch'],
      answers: { 200: { description: 'Taken away.', schema: DONE } },
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
      summary: 'Lists the policies assigned to a user, and with `role` those of the role too.',
      parameters: [pathParameter('userId', 'Id of the user.'), queryParameter('role', 'A role whose policies to list too.', ROLE)],
      answers: { 200: { description: 'The policies.', schema: envelope(arrayOf(POLICY), COUNT) } },
      problems: [404],
    }),
  },
  '/roles/{role}/policies': {
    get: adminOperation('assignments', 'assignments.ofRole', {
      summary: 'Lists the policies assigned to a role.',
      parameters: [pathParameter('role', 'The role.', ROLE)],
      answers: { 200: { description: 'The policies.', schema: envelope(arrayOf(POLICY), COUNT) } },
      problems: [404],
    }),
  },
};

const PAST_EXPLANATION: JsonObject = {
  ...explanationMembers,
  warnings: { ...arrayOf(TEXT), description: 'Where the trace is not that of its time.' },
};

const decisionPaths: JsonObject = {
  '/decisions': {
    get: adminOperation('decisions', 'decisions.list', {
      summary: 'Searches the record, newest first.',
      parameters: [
        queryParameter('userId', 'Decisions about this user.', TEXT),
        queryParameter('role', 'Decisions about callers of this role.', TEXT),
        queryParameter('resource', 'Decisions about this resource.', TEXT),
        queryParameter('action', 'Decisions about this action.', { type: 'string', examples: [...RULE_ACTIONS] }),
        queryParameter('allowed', 'Grants or denials only.', { type: 'boolean' }),
        queryParameter('kind', 'Access to records, or changes made by admins.', { type: 'string', enum: ['access', 'admin'] }),
        queryParameter('from', 'Not before.', { type: 'string', format: 'date-time' }),
        queryParameter('to', 'Before.', { type: 'string', format: 'date-time' }),
        'limit',
        'cursor',
      ],
      answers: {
        200: { description: 'A page of entries.', schema: envelope(arrayOf(schemaRef('admin.Decision')), { ...COUNT, nextCursor: TEXT }) },
      },
    }),
  },
  '/decisions/verify': {
    get: adminOperation('decisions', 'decisions.verify', {
      summary: 'Looks whether the entries are as they were written, some at a time, against their chains and what was signed of them last.',
      parameters: [queryParameter('limit', 'How many entries.', { type: 'integer', minimum: 1, maximum: 10_000, default: 1000 }), 'cursor'],
      answers: { 200: { description: 'What was found.', schema: envelope(schemaRef('admin.Verification'), { nextCursor: TEXT }) } },
    }),
  },
  '/decisions/{id}': {
    get: adminOperation('decisions', 'decisions.read', {
      summary: 'Shows one entry, and why it was decided so: the trace under the policies of its time.',
      parameters: [pathParameter('id', 'Id of the entry: `X-Decision-Id` of the answer.')],
      answers: {
        200: { description: 'The entry.', schema: envelope({ allOf: [schemaRef('admin.Decision'), { properties: PAST_EXPLANATION }] }) },
      },
      problems: [404],
    }),
  },
  '/policies-analytics': {
    get: adminOperation('decisions', 'analytics.read', {
      summary: 'Counts of policies and decisions.',
      parameters: [
        queryParameter('timeframe', 'A number of days, hours or weeks.', { type: 'string', pattern: '^[1-9][0-9]*[dhw]$', default: '7d' }),
      ],
      answers: { 200: { description: 'The counts.', schema: envelope(schemaRef('admin.Analytics')) } },
    }),
  },
};

/** Every address under `/admin/api`. */
export const adminPaths: JsonObject = Object.fromEntries(
  Object.entries({ ...policyPaths, ...advicePaths, ...accessPaths, ...assignmentPaths, ...decisionPaths, ...storagePaths }).map(
    ([path, item]) => [`/admin/api${path}`, item],
  ),
);
