import { RULE_ACTIONS, SINGLE_DECISION_ACTIONS } from '../../actions.ts';
import { BREAK_KINDS } from '../../audit/integrity/index.ts';
import { DEFAULT_PRIORITY, EFFECTS, POLICY_TYPES } from '../../authz/policies/index.ts';
import { CONTEXT_GROUPS } from '../../conditions/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { accessSchemas } from './access-schemas.ts';
import { operatorSchema } from './filter-parameters.ts';
import { adviceSchemas } from './finding-paths.ts';
import { storageSchemas } from './migration-paths.ts';
import { arrayOf, objectOf, schemaRef } from './openapi-operation.ts';

const TEXT: JsonObject = { type: 'string' };
const ID: JsonObject = { type: 'string', format: 'uuid' };
const INSTANT: JsonObject = { type: 'string', format: 'date-time' };
const COUNT: JsonObject = { type: 'integer', minimum: 0 };
const PRIORITY: JsonObject = { type: 'integer', default: DEFAULT_PRIORITY, description: 'The higher goes first.' };
const ACTIVE: JsonObject = { type: 'boolean', default: true };
const VERSION: JsonObject = { type: 'integer', minimum: 1, description: 'Revision of the last change: the `ETag`.' };

const ruleMembers: JsonObject = {
  resource: { type: 'string', description: 'A resource, or `*` for all.' },
  action: { type: 'string', enum: [...RULE_ACTIONS, '*'] },
  effect: { type: 'string', enum: [...EFFECTS], default: 'ALLOW' },
  conditions: { ...arrayOf(schemaRef('admin.Condition')), default: [], description: 'All must hold.' },
  priority: PRIORITY,
  description: TEXT,
  isActive: ACTIVE,
};

const policyMembers: JsonObject = {
  name: { type: 'string', minLength: 1, maxLength: 200, description: 'Unique.' },
  description: TEXT,
  type: { type: 'string', enum: [...POLICY_TYPES], description: 'Only CUSTOM policies may have expressions.' },
  isActive: ACTIVE,
  priority: PRIORITY,
  createdBy: { type: 'string', description: 'The acting admin where absent.' },
  tags: { ...arrayOf(TEXT), default: [] },
};

const PRINCIPAL: JsonObject = {
  ...objectOf({ id: TEXT, role: TEXT, email: TEXT }, ['id', 'role', 'email']),
  description: 'Laid over the stored user with this id; any further attributes.',
  additionalProperties: true,
};

/** What the admin endpoints and signing in carry. */
export const adminSchemas: JsonObject = {
  'api.Caller': {
    ...objectOf({ id: TEXT, email: TEXT, name: { type: ['string', 'null'] }, role: TEXT }),
    description: 'A user, as shown to themselves; `GET /auth/me` shows every field that is not secret.',
    additionalProperties: true,
  },
  'admin.Condition': conditionSchema(),
  'admin.Rule': objectOf({ id: ID, policyId: ID, ...ruleMembers, createdAt: INSTANT }, ['description']),
  'admin.RuleInput': {
    ...objectOf(
      { id: { ...ID, description: 'Of a rule that the policy has: it keeps its id.' }, ...ruleMembers },
      optionalBut(['resource', 'action'], ruleMembers),
    ),
    additionalProperties: false,
  },
  'admin.Policy': objectOf(
    { id: ID, ...policyMembers, rules: arrayOf(schemaRef('admin.Rule')), createdAt: INSTANT, updatedAt: INSTANT, version: VERSION },
    ['description'],
  ),
  'admin.PolicyInput': {
    ...objectOf({ ...policyMembers, rules: arrayOf(schemaRef('admin.RuleInput')) }, optionalBut(['name', 'type'], policyMembers)),
    additionalProperties: false,
  },
  'admin.PolicyImport': {
    ...objectOf(
      {
        ...policyMembers,
        rules: arrayOf(schemaRef('admin.RuleInput')),
        roles: arrayOf({
          ...objectOf({ role: { type: 'string', enum: [...ASSIGNABLE_ROLES] }, priority: PRIORITY, isActive: ACTIVE, assignedBy: TEXT }, [
            'priority',
            'isActive',
            'assignedBy',
          ]),
          additionalProperties: false,
        }),
        users: arrayOf({
          ...objectOf(
            {
              userId: TEXT,
              expiresAt: { ...INSTANT, type: ['string', 'null'] },
              isActive: ACTIVE,
              context: { type: 'object' },
              assignedBy: TEXT,
            },
            ['expiresAt', 'isActive', 'context', 'assignedBy'],
          ),
          additionalProperties: false,
        }),
      },
      ['roles', 'users', ...optionalBut(['name', 'type'], policyMembers)],
    ),
    description: 'A policy said as a whole, known by its name; what the service sets itself is passed over. Who has it already keeps it.',
  },
  'admin.PolicyChange': {
    type: 'object',
    description: 'The members to change; `rules` replaces all rules.',
    properties: { ...policyMembers, rules: arrayOf(schemaRef('admin.RuleInput')) },
    additionalProperties: false,
  },
  'admin.UserPolicy': objectOf(
    {
      id: ID,
      userId: TEXT,
      policyId: ID,
      assignedBy: TEXT,
      assignedAt: INSTANT,
      expiresAt: INSTANT,
      isActive: ACTIVE,
      context: { type: 'object' },
      version: VERSION,
    },
    ['expiresAt'],
  ),
  'admin.UserPolicyInput': {
    type: 'object',
    properties: { expiresAt: { ...INSTANT, type: ['string', 'null'] }, isActive: ACTIVE, context: { type: 'object' }, assignedBy: TEXT },
    additionalProperties: false,
  },
  'admin.RolePolicy': objectOf({
    id: ID,
    role: { type: 'string', enum: [...ASSIGNABLE_ROLES] },
    policyId: ID,
    assignedBy: TEXT,
    assignedAt: INSTANT,
    isActive: ACTIVE,
    priority: PRIORITY,
    version: VERSION,
  }),
  'admin.RolePolicyInput': {
    type: 'object',
    properties: { priority: PRIORITY, isActive: ACTIVE, assignedBy: TEXT },
    additionalProperties: false,
  },
  'admin.AccessTest': {
    ...objectOf(
      {
        user: PRINCIPAL,
        resource: {
          ...objectOf({ name: TEXT, id: TEXT }, ['id']),
          description: 'Laid over the stored record with this id; any further fields that the resource has.',
          additionalProperties: true,
        },
        action: { type: 'string', enum: SINGLE_DECISION_ACTIONS },
        environment: schemaRef('admin.Environment'),
        data: {
          description:
            'What the request would send: `request.data` of conditions, and the values of a create, an update or one record of an import.',
        },
      },
      ['user', 'environment', 'data'],
    ),
    additionalProperties: false,
  },
  ...accessSchemas,
  ...adviceSchemas,
  ...storageSchemas,
  'admin.Template': objectOf({
    id: TEXT,
    name: TEXT,
    description: TEXT,
    type: { type: 'string', enum: [...POLICY_TYPES] },
    template: schemaRef('admin.PolicyInput'),
  }),
  'admin.Decision': decisionSchema(),
  'admin.Verification': verificationSchema(),
  'admin.Analytics': objectOf({
    totalPolicies: COUNT,
    activePolicies: COUNT,
    policyTypes: objectOf(Object.fromEntries(POLICY_TYPES.map((type) => [type, COUNT]))),
    from: { ...INSTANT, description: 'The counts begin here.' },
    accessGrants: COUNT,
    accessDenials: COUNT,
    recentActivity: { ...arrayOf({ type: 'object' }), description: 'The newest 20 decisions.' },
    topResources: arrayOf(objectOf({ resource: TEXT, grants: COUNT, denials: COUNT, total: COUNT })),
  }),
};

function conditionSchema(): JsonObject {
  const comparison = objectOf(
    {
      field: { type: 'string', description: 'A dotted path, with its group in front or in `context`.', examples: ['user.department'] },
      operator: operatorSchema,
      value: { description: `A literal, an array, or \`\${path}\`: a value of the context.`, examples: ['draft', `\${resource.authorId}`] },
      context: { type: 'string', enum: [...CONTEXT_GROUPS] },
      ifExists: { type: 'boolean', default: false, description: 'Where the field is missing, the comparison is false instead of unknown.' },
    },
    ['value', 'context', 'ifExists'],
  );
  const group = { ...arrayOf(schemaRef('admin.Condition')), minItems: 1 };
  return {
    oneOf: [
      { ...comparison, title: 'Comparison', additionalProperties: false },
      { ...objectOf({ allOf: group }), title: 'All of', additionalProperties: false },
      { ...objectOf({ anyOf: group }), title: 'Any of', additionalProperties: false },
      { ...objectOf({ not: schemaRef('admin.Condition') }), title: 'Not', additionalProperties: false },
      {
        ...objectOf({ expression: { type: 'string', description: 'CEL' } }),
        title: 'Expression, in CUSTOM policies',
        additionalProperties: false,
      },
    ],
  };
}

function verificationSchema(): JsonObject {
  const place = {
    writer: { type: 'string', description: 'The chain.' },
    sequence: { type: 'integer', description: 'The place in it.' },
    id: { type: 'string', description: 'The entry that stands there.' },
  };
  return objectOf({
    whole: { type: 'boolean', description: 'Whether nothing was found.' },
    entries: { ...COUNT, description: 'Entries that were looked at.' },
    chains: COUNT,
    notChained: { ...COUNT, description: 'Entries from before there were chains; counted on the first page.' },
    breaks: {
      ...arrayOf(objectOf({ kind: { type: 'string', enum: [...BREAK_KINDS] }, ...place, detail: TEXT }, ['writer', 'sequence', 'id'])),
      description: 'What is not as it was written; the first 1000.',
    },
    breakCount: COUNT,
    policies: {
      ...objectOf(
        {
          versions: { ...COUNT, description: 'Versions of policies and assignments that were verified.' },
          unproven: { ...COUNT, description: 'Versions from before they were hashed.' },
          provenUntil: { ...COUNT, description: 'The newest revision whose hash an entry of this page holds: it proves all before.' },
          until: { ...COUNT, description: 'The newest revision that has a hash.' },
        },
        ['provenUntil', 'until'],
      ),
      description: 'The history of policies, verified on the pages behind the last entry.',
    },
  });
}

function decisionSchema(): JsonObject {
  return objectOf(
    {
      id: ID,
      at: INSTANT,
      kind: { type: 'string', enum: ['access', 'admin'] },
      userId: TEXT,
      role: TEXT,
      resource: TEXT,
      action: TEXT,
      recordId: TEXT,
      allowed: { type: 'boolean' },
      reason: TEXT,
      ruleId: TEXT,
      policyId: TEXT,
      epoch: { type: 'integer', description: 'Version of the policies it was made under.' },
      requestId: TEXT,
      ip: TEXT,
      outcome: { type: 'string', description: 'Code of the problem, where the request was allowed and failed all the same.' },
      facts: {
        type: 'object',
        description:
          'The values that its conditions read, by path; of a change of policies, `policyRevision` and `policyHash` of their history.',
      },
    },
    ['userId', 'recordId', 'ruleId', 'policyId', 'outcome', 'facts'],
  );
}

/** The names of the members that may be left out: all but these. */
function optionalBut(needed: readonly string[], members: JsonObject): readonly string[] {
  return ['id', ...Object.keys(members).filter((name) => !needed.includes(name))];
}
