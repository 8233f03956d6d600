import { RULE_ACTIONS } from '../../actions.ts';
import { DEFAULT_PRIORITY, EFFECTS, POLICY_TYPES } from '../../authz/policies/index.ts';
import { CONTEXT_GROUPS } from '../../conditions/index.ts';
import { type JsonObject, OPERATORS } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { arrayOf, objectOf, schemaRef } from './openapi-operation.ts';

/** The schema of operator names in conditions. */
const operatorSchema: JsonObject = {
  type: 'string',
  enum: [...OPERATORS.keys()],
  description: [...OPERATORS.values()].map(({ name, summary }) => `\`${name}\`: ${summary}`).join('  \n'),
};

const TEXT: JsonObject = { type: 'string' };
const ID: JsonObject = { type: 'string', format: 'uuid' };
const INSTANT: JsonObject = { type: 'string', format: 'date-time' };
const PRIORITY: JsonObject = {
  type: 'integer',
  default: DEFAULT_PRIORITY,
  description: 'Rules with a higher priority are evaluated first.',
};
const ACTIVE: JsonObject = { type: 'boolean', default: true };
const VERSION: JsonObject = { type: 'integer', minimum: 1, description: 'Revision of the last change: the `ETag`.' };

const ruleMembers: JsonObject = {
  resource: { type: 'string', description: 'A resource, or `*` for all.' },
  action: { type: 'string', enum: [...RULE_ACTIONS, '*'] },
  effect: { type: 'string', enum: [...EFFECTS], default: 'ALLOW' },
  conditions: { ...arrayOf(schemaRef('admin.Condition')), default: [], description: 'All must be true.' },
  priority: PRIORITY,
  description: TEXT,
  isActive: ACTIVE,
};

const policyMembers: JsonObject = {
  name: { type: 'string', minLength: 1, maxLength: 200, description: 'Unique.' },
  description: TEXT,
  type: { type: 'string', enum: [...POLICY_TYPES], description: 'Only CUSTOM policies may contain expressions.' },
  isActive: ACTIVE,
  priority: PRIORITY,
  createdBy: { type: 'string', description: 'Default: the admin who makes the request.' },
  tags: { ...arrayOf(TEXT), default: [] },
};

/** Schemas of the admin endpoints. */
export const adminSchemas: JsonObject = {
  'admin.Condition': conditionSchema(),
  'admin.Rule': objectOf({ id: ID, policyId: ID, ...ruleMembers, createdAt: INSTANT }, ['description']),
  'admin.RuleInput': {
    ...objectOf(
      { id: { ...ID, description: 'Id of an existing rule of the policy.' }, ...ruleMembers },
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
    description: 'A complete policy, identified by its name. Members that the service sets are ignored. Existing assignments are kept.',
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
  'admin.Template': objectOf({
    id: TEXT,
    name: TEXT,
    description: TEXT,
    type: { type: 'string', enum: [...POLICY_TYPES] },
    template: schemaRef('admin.PolicyInput'),
  }),
};

function conditionSchema(): JsonObject {
  const comparison = objectOf(
    {
      field: { type: 'string', description: 'A dotted path, with its group in front or in `context`.', examples: ['user.department'] },
      operator: operatorSchema,
      value: { description: `A literal, an array, or \`\${path}\`: a value of the context.`, examples: ['draft', `\${resource.authorId}`] },
      context: { type: 'string', enum: [...CONTEXT_GROUPS] },
      ifExists: {
        type: 'boolean',
        default: false,
        description: 'If true, the comparison is false instead of unknown for a missing field.',
      },
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

/** Returns the names of the optional members: `id` and all members except `needed`. */
function optionalBut(needed: readonly string[], members: JsonObject): readonly string[] {
  return ['id', ...Object.keys(members).filter((name) => !needed.includes(name))];
}
