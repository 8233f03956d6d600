import { RULE_ACTIONS } from '../actions.ts';
import type { JsonObject } from '../operators/index.ts';
import { ASSIGNABLE_ROLES, EFFECTS, POLICY_TYPES } from '../policy/index.ts';
import {
  arrayOf,
  envelope,
  type OperationParts,
  objectOf,
  orNull,
  pathParameter,
  queryParameter,
  schemaRef,
  toOperation,
} from './operation.ts';

type AdminOperation = Omit<OperationParts, 'id' | 'tag' | 'caller'>;

/** An operation that only an admin's token opens: 401 without a token, 403 with another's. */
function operation(area: 'policies' | 'assignments' | 'access tests' | 'decisions', id: string, parts: AdminOperation): JsonObject {
  const problems = [403, ...(parts.problems ?? [])];
  return toOperation({ ...parts, problems, caller: 'bearer', id: `admin.${id}`, tag: `Admin ${area}` });
}

const TEXT: JsonObject = { type: 'string' };
const COUNT: JsonObject = { count: { type: 'integer' } };
const MESSAGE: JsonObject = { message: TEXT };
const WARNINGS: JsonObject = { warnings: arrayOf(schemaRef('api.Issue')) };
const POLICY: JsonObject = schemaRef('admin.Policy');
const DONE: JsonObject = objectOf({ success: { const: true }, message: TEXT });
const POLICY_ID: JsonObject = pathParameter('id', 'Id of the policy.');

const policyPaths: JsonObject = {
  '/policies': {
    get: operation('policies', 'policies.list', {
      summary: 'Lists policies with their rules.',
      parameters: [
        queryParameter('isActive', 'Active or inactive ones only.', { type: 'boolean' }),
        queryParameter('type', 'Those of this type only.', { type: 'string', enum: [...POLICY_TYPES] }),
      ],
      answers: { 200: { description: 'The policies.', schema: envelope(arrayOf(POLICY), COUNT) } },
    }),
    post: operation('policies', 'policies.create', {
      summary: 'Creates a policy. Every mistake in it is listed.',
      body: schemaRef('admin.PolicyInput'),
      answers: { 201: { description: 'The policy.', schema: envelope(POLICY, { ...MESSAGE, ...WARNINGS }) } },
      problems: [409, 422],
    }),
  },
  '/policies/{id}': {
    get: operation('policies', 'policies.read', {
      summary: 'Shows a policy with its rules.',
      parameters: [POLICY_ID],
      answers: { 200: { description: 'The policy.', schema: envelope(POLICY) } },
      problems: [404],
    }),
    put: operation('policies', 'policies.update', {
      summary: 'Changes the members given. In force for every request that begins after the answer.',
      parameters: [POLICY_ID],
      body: schemaRef('admin.PolicyChange'),
      answers: { 200: { description: 'The policy as it is now.', schema: envelope(POLICY, { ...MESSAGE, ...WARNINGS }) } },
      problems: [404, 409, 422],
    }),
    delete: operation('policies', 'policies.delete', {
      summary: 'Deletes a policy, its rules and its assignments. What it was stays on the record.',
      parameters: [POLICY_ID],
      answers: { 200: { description: 'Deleted.', schema: DONE } },
      problems: [404],
    }),
  },
  '/policies-templates': {
    get: operation('policies', 'templates.list', {
      summary: 'Ready-made policies: each `template` is accepted by `POST /admin/api/policies` as it is.',
      answers: { 200: { description: 'The templates.', schema: envelope(arrayOf(schemaRef('admin.Template')), COUNT) } },
    }),
  },
};

const CONDITIONAL: JsonObject = {
  type: 'boolean',
  description: 'Of a list or export: allowed for the records that a condition holds for.',
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
const TRACE: JsonObject = {
  trace: { ...arrayOf({ type: 'object' }), description: 'Each rule considered, each condition with expected and actual value.' },
  wouldAllow: { ...arrayOf({ type: 'object' }), description: 'Of a denial: rules that would have allowed it, and what stood in the way.' },
};

/** The answer of a test, with why. */
function explained(own: JsonObject, optional: readonly string[] = []): JsonObject {
  return envelope(objectOf({ allowed: { type: 'boolean' }, reason: TEXT, ...own, ...TRACE }, ['wouldAllow', ...optional]));
}

const testPaths: JsonObject = {
  '/policies/test-access': {
    post: operation('access tests', 'tests.access', {
      summary: 'Says what would be decided for a user, resource, action and time, and why.',
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
    post: operation('access tests', 'tests.policy', {
      summary: 'The same, as if this policy alone were assigned.',
      parameters: [POLICY_ID],
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
  const assigned = envelope(schemaRef(schema), MESSAGE);
  return {
    post: operation('assignments', `assignments.${id}.create`, {
      summary: `Assigns the policy to the ${to}.`,
      parameters,
      body,
      bodyRequired: false,
      answers: { 201: { description: 'The assignment.', schema: assigned } },
      problems: [404, 409, 422],
    }),
    put: operation('assignments', `assignments.${id}.update`, {
      summary: 'Changes the assignment.',
      parameters,
      body,
      answers: { 200: { description: 'The assignment as it is now.', schema: assigned } },
      problems: [404, 422],
    }),
    delete: operation('assignments', `assignments.${id}.delete`, {
      summary: 'Takes the assignment away. No request that begins after the answer is allowed by it.',
      parameters,
      answers: { 200: { description: 'Taken away.', schema: DONE } },
      problems: [404],
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
    get: operation('assignments', 'assignments.ofUser', {
      summary: 'Lists the policies assigned to a user, and with `role` those of the role too.',
      parameters: [pathParameter('userId', 'Id of the user.'), queryParameter('role', 'A role whose policies to list too.', ROLE)],
      answers: { 200: { description: 'The policies.', schema: envelope(arrayOf(POLICY), COUNT) } },
      problems: [404],
    }),
  },
  '/roles/{role}/policies': {
    get: operation('assignments', 'assignments.ofRole', {
      summary: 'Lists the policies assigned to a role.',
      parameters: [pathParameter('role', 'The role.', ROLE)],
      answers: { 200: { description: 'The policies.', schema: envelope(arrayOf(POLICY), COUNT) } },
      problems: [404],
    }),
  },
};

const decisionPaths: JsonObject = {
  '/decisions': {
    get: operation('decisions', 'decisions.list', {
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
  '/decisions/{id}': {
    get: operation('decisions', 'decisions.read', {
      summary: 'Shows one entry, and why it was decided so: the trace under the policies of its time.',
      parameters: [pathParameter('id', 'Id of the entry: `X-Decision-Id` of the answer.')],
      answers: {
        200: { description: 'The entry.', schema: envelope({ allOf: [schemaRef('admin.Decision'), { properties: TRACE }] }) },
      },
      problems: [404],
    }),
  },
  '/policies-analytics': {
    get: operation('decisions', 'analytics.read', {
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
  Object.entries({ ...policyPaths, ...testPaths, ...assignmentPaths, ...decisionPaths }).map(([path, item]) => [`/admin/api${path}`, item]),
);
