import { RULE_ACTIONS, SINGLE_DECISION_ACTIONS } from '../../actions.ts';
import { EFFECTS, POLICY_TYPES } from '../../authz/policies/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { adminOperation, arrayOf, objectOf, orNull, pathParameter, schemaRef, success } from './openapi-operation.ts';

const TEXT: JsonObject = { type: 'string' };

const PRIORITY: JsonObject = { type: 'integer' };
const WHEN: JsonObject = { type: 'string', description: 'The residual condition as text. The request is allowed if it is true.' };
const ANSWER: JsonObject = {
  type: 'string',
  enum: ['true', 'false', 'unknown', 'open'],
  description: '`open`: the result depends on an unknown value, such as the record of a list.',
};
const MISSING: JsonObject = { ...arrayOf(TEXT), description: 'Paths without a value that the conditions read.' };

/** The members of a rule with the values that determine its precedence. */
const ranked: JsonObject = {
  rule: objectOf({ id: TEXT, description: TEXT, effect: { type: 'string', enum: [...EFFECTS] }, priority: PRIORITY }, ['description']),
  policy: objectOf({ id: TEXT, name: TEXT, type: { type: 'string', enum: [...POLICY_TYPES] }, priority: PRIORITY }),
  assignment: objectOf({ priority: PRIORITY }),
};

/** The members of a partial decision: its rule, policy and residual condition. */
const partialDecision: JsonObject = {
  rule: {
    ...objectOf({ id: TEXT, description: TEXT }, ['description']),
    description: 'The deciding rule; for `conditional`, the first rule that may allow.',
  },
  policy: objectOf({ id: TEXT, name: TEXT }),
  when: WHEN,
};
const CAN: JsonObject = { type: 'string', enum: ['allow', 'conditional'] };

/** The members of an explanation. */
export const explanationMembers: JsonObject = {
  trace: { ...arrayOf(schemaRef('admin.RuleTrace')), description: 'The evaluated rules, in order.' },
  ties: {
    ...arrayOf(schemaRef('admin.TiedRule')),
    description: 'Rules with the same priorities as the deciding rule that would also have fired. At most 20.',
  },
  when: WHEN,
  wouldAllow: {
    ...arrayOf(schemaRef('admin.NearbyRule')),
    description: 'For a denial: the ALLOW rules with the fewest unmet conditions. At most five.',
  },
  note: {
    type: 'string',
    description: 'For a denial: a note if no ALLOW rule applies, or if only the changed record is denied.',
  },
};

/** Names of the optional members of an explanation. */
export const OPTIONAL_EXPLANATION: readonly string[] = ['when', 'wouldAllow', 'note'];

/** Schemas of access tests, explanations and partial decisions. */
export const accessSchemas: JsonObject = {
  'admin.Environment': {
    ...objectOf({ timestamp: { type: 'string', format: 'date-time' }, ip: TEXT }, ['timestamp', 'ip']),
    description: 'Time and address of the hypothetical request. Assignments that have expired by the timestamp do not apply.',
    additionalProperties: false,
  },
  'admin.ConditionTrace': conditionTrace(),
  'admin.RuleTrace': objectOf(
    {
      ...ranked,
      answer: ANSWER,
      fired: { type: 'boolean', description: 'True if the rule determined the decision.' },
      condition: schemaRef('admin.ConditionTrace'),
      missing: MISSING,
    },
    ['missing'],
  ),
  'admin.TiedRule': objectOf({
    ...ranked,
    answer: ANSWER,
    brokenBy: {
      type: 'string',
      enum: ['DENY before ALLOW', 'rule id'],
      description: 'The criterion that determined the order of the two rules.',
    },
  }),
  'admin.NearbyRule': objectOf(
    {
      ...ranked,
      unmet: {
        ...arrayOf(schemaRef('admin.ConditionTrace')),
        description: 'The unmet conditions. For an `any`, one of them is sufficient.',
      },
      missing: MISSING,
      overruledBy: { ...objectOf(ranked), description: 'The DENY that fires even if the conditions are met.' },
    },
    ['missing', 'overruledBy'],
  ),
  'admin.WhoCanQuestion': {
    ...objectOf(
      {
        resource: TEXT,
        id: { type: 'string', description: 'Id of a record; without it, the query is about any record. Not allowed for create.' },
        action: { type: 'string', enum: SINGLE_DECISION_ACTIONS },
        environment: schemaRef('admin.Environment'),
        limit: { type: 'integer', minimum: 1, maximum: 1000, default: 50, description: 'Maximum number of users in the page.' },
        cursor: { type: 'string', description: '`nextCursor` of the previous page.' },
      },
      ['id', 'environment', 'limit', 'cursor'],
    ),
    additionalProperties: false,
  },
  'admin.RoleWhoCan': objectOf({ role: { type: 'string', enum: [...ASSIGNABLE_ROLES] }, effect: CAN, ...partialDecision }, ['when']),
  'admin.UserWhoCan': objectOf(
    {
      ...{ id: TEXT, name: TEXT, email: TEXT, role: TEXT, effect: CAN, ...partialDecision },
      via: { type: 'string', enum: ['user', 'role'], description: '`user` if the rule applies only by an assignment of the user.' },
    },
    ['name', 'when'],
  ),
  'admin.PermissionsQuestion': {
    type: 'object',
    properties: {
      resources: { ...arrayOf(TEXT), minItems: 1, description: 'Default: all resources.' },
      environment: schemaRef('admin.Environment'),
      cursor: { type: 'string', description: '`nextCursor` of the previous page.' },
    },
    additionalProperties: false,
  },
  'admin.Permission': objectOf(
    {
      resource: TEXT,
      action: { type: 'string', enum: [...RULE_ACTIONS] },
      effect: { type: 'string', enum: ['allow', 'deny', 'conditional'] },
      reason: TEXT,
      ...partialDecision,
    },
    ['rule', 'policy', 'when'],
  ),
};

const CONDITIONAL: JsonObject = {
  type: 'boolean',
  description:
    'Allowed only if `when` is true: for a list or export, the matching records; otherwise, depending on how the request is sent.',
};
const EVALUATION: JsonObject = objectOf(
  {
    matched: { type: 'boolean', description: 'True if a rule of the policy fired.' },
    effect: { type: 'string', enum: [...EFFECTS] },
    policy: objectOf({ id: TEXT, name: TEXT, type: TEXT }),
    conditional: CONDITIONAL,
  },
  ['conditional'],
);

const WARNINGS: JsonObject = {
  ...arrayOf(TEXT),
  description: 'Warnings, for example: the user is unknown or inactive, or the values would be rejected.',
};

/** Returns the schema of the response to an access test. */
function explained(own: JsonObject, optional: readonly string[] = []): JsonObject {
  const members = { allowed: { type: 'boolean' }, reason: TEXT, ...own, ...explanationMembers };
  return success(objectOf(members, [...OPTIONAL_EXPLANATION, ...optional]), { warnings: WARNINGS });
}

const testPaths: JsonObject = {
  '/policies/test-access': {
    post: adminOperation('access tests', 'tests.access', {
      summary: 'Decides a hypothetical request and explains the decision.',
      description:
        'A create is decided on the record that it would create. An update with `data` is decided on the current record and on the changed record.',
      body: schemaRef('admin.AccessTest'),
      answers: {
        200: {
          description: 'The decision and its explanation.',
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
      summary: 'Decides a hypothetical request as if only this policy were assigned.',
      parameters: [pathParameter('id', 'Id of the policy.')],
      body: schemaRef('admin.AccessTest'),
      answers: {
        200: {
          description: 'The decision and its explanation.',
          schema: explained({ evaluation: EVALUATION }),
        },
      },
      problems: [404, 422],
    }),
  },
};

const COUNT: JsonObject = { count: { type: 'integer' } };

const permissionPaths: JsonObject = {
  '/policies/who-can': {
    post: adminOperation('access tests', 'tests.whoCan', {
      summary: 'Lists the roles and users that may perform an action, with the rule.',
      description:
        'For a role, the user is unknown, and for all, the request: a decision that depends on them is `conditional`. Active users are decided one by one, in the order of their ids. A page may end early; the list is complete only if `nextCursor` is absent.',
      body: schemaRef('admin.WhoCanQuestion'),
      answers: {
        200: {
          description: 'The roles, and a page of the users.',
          schema: success(objectOf({ roles: arrayOf(schemaRef('admin.RoleWhoCan')), users: arrayOf(schemaRef('admin.UserWhoCan')) }), {
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
      summary: 'Lists the permissions of a user: every resource × every action, with reasons.',
      parameters: [pathParameter('userId', 'Id of the user.')],
      body: schemaRef('admin.PermissionsQuestion'),
      bodyRequired: false,
      answers: {
        200: {
          description: 'One decision for each resource and action. It is `conditional` if it depends on the record or the request.',
          schema: success(arrayOf(schemaRef('admin.Permission')), {
            ...COUNT,
            user: objectOf({ id: TEXT, name: TEXT, email: TEXT, role: TEXT, isActive: { type: 'boolean' } }, ['name']),
            nextCursor: { ...TEXT, description: 'Cursor of the next page; absent on the last. A page may end early.' },
            warnings: { ...arrayOf(TEXT), description: 'A warning if the user is inactive.' },
          }),
        },
      },
      problems: [404, 422],
    }),
  },
};

/** The paths of access tests and permission queries. */
export const accessPaths: JsonObject = { ...testPaths, ...permissionPaths };

/** Returns the schema of an evaluated condition: a comparison, a group, an expression or a constant. */
function conditionTrace(): JsonObject {
  const self = schemaRef('admin.ConditionTrace');
  return objectOf(
    {
      type: { type: 'string', enum: ['comparison', 'all', 'any', 'not', 'expression', 'constant'] },
      answer: ANSWER,
      field: TEXT,
      operator: TEXT,
      expected: { description: 'The right side, with references replaced by their values.' },
      written: { type: 'string', description: 'The right side as written, if it contains a reference.' },
      actual: { description: 'The value of the field.' },
      missing: { const: true, description: 'The field has no value.' },
      ifExists: { const: true },
      source: { type: 'string', description: 'The text of an expression.' },
      of: { description: 'The members of a group; the single member of a `not`.', anyOf: [arrayOf(self), self] },
    },
    ['field', 'operator', 'expected', 'written', 'actual', 'missing', 'ifExists', 'source', 'of'],
  );
}
