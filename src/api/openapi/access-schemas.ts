import { RULE_ACTIONS, SINGLE_DECISION_ACTIONS } from '../../actions.ts';
import { EFFECTS, POLICY_TYPES } from '../../authz/policies/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { arrayOf, objectOf, schemaRef } from './openapi-operation.ts';

const TEXT: JsonObject = { type: 'string' };
const PRIORITY: JsonObject = { type: 'integer' };
const WHEN: JsonObject = { type: 'string', description: 'What it depends on: the condition that remains, in words.' };
const ANSWER: JsonObject = {
  type: 'string',
  enum: ['true', 'false', 'unknown', 'open'],
  description: '`open`: it depends on what is not known, such as the record of a list.',
};
const MISSING: JsonObject = { ...arrayOf(TEXT), description: 'Paths that its conditions read and that have no value.' };

/** A rule with its rank. */
const ranked: JsonObject = {
  rule: objectOf({ id: TEXT, description: TEXT, effect: { type: 'string', enum: [...EFFECTS] }, priority: PRIORITY }, ['description']),
  policy: objectOf({ id: TEXT, name: TEXT, type: { type: 'string', enum: [...POLICY_TYPES] }, priority: PRIORITY }),
  assignment: objectOf({ priority: PRIORITY }),
};

/** The rule by which something is foreseen. */
const foreseen: JsonObject = {
  rule: { ...objectOf({ id: TEXT, description: TEXT }, ['description']), description: 'That decides, or is the first that may allow.' },
  policy: objectOf({ id: TEXT, name: TEXT }),
  when: WHEN,
};
const CAN: JsonObject = { type: 'string', enum: ['allow', 'conditional'] };

/** The members of an answer that say why. All but these two are left out where they say nothing. */
export const explanationMembers: JsonObject = {
  trace: { ...arrayOf(schemaRef('admin.RuleTrace')), description: 'Each rule considered, in order.' },
  ties: {
    ...arrayOf(schemaRef('admin.TiedRule')),
    description: 'Rules of exactly the rank of the deciding rule that would have decided as well; the first 20.',
  },
  when: WHEN,
  wouldAllow: {
    ...arrayOf(schemaRef('admin.NearbyRule')),
    description: 'Of a denial: the rules that come nearest to allowing, and what stood in the way; the first five.',
  },
  note: {
    type: 'string',
    description: 'Of a denial: that no rule says ALLOW here, or that only the record as it would become is denied.',
  },
};

/** Those of them that may be absent. */
export const OPTIONAL_EXPLANATION: readonly string[] = ['when', 'wouldAllow', 'note'];

/** What access tests, explanations and questions ahead carry. */
export const accessSchemas: JsonObject = {
  'admin.Environment': {
    ...objectOf({ timestamp: { type: 'string', format: 'date-time' }, ip: TEXT }, ['timestamp', 'ip']),
    description: 'Assignments that have expired by the timestamp do not apply.',
    additionalProperties: false,
  },
  'admin.ConditionTrace': conditionTrace(),
  'admin.RuleTrace': objectOf(
    {
      ...ranked,
      answer: ANSWER,
      fired: { type: 'boolean', description: 'Whether it decided.' },
      condition: schemaRef('admin.ConditionTrace'),
      missing: MISSING,
    },
    ['missing'],
  ),
  'admin.TiedRule': objectOf({
    ...ranked,
    answer: ANSWER,
    brokenBy: { type: 'string', enum: ['DENY before ALLOW', 'rule id'], description: 'What put the one that goes first before the other.' },
  }),
  'admin.NearbyRule': objectOf(
    {
      ...ranked,
      unmet: { ...arrayOf(schemaRef('admin.ConditionTrace')), description: 'What stood in the way; of an `any`, one would do.' },
      missing: MISSING,
      overruledBy: { ...objectOf(ranked), description: 'The DENY that would overrule it all the same.' },
    },
    ['missing', 'overruledBy'],
  ),
  'admin.WhoCanQuestion': {
    ...objectOf(
      {
        resource: TEXT,
        id: { type: 'string', description: 'Of a record; without it, of any. A create has none.' },
        action: { type: 'string', enum: SINGLE_DECISION_ACTIONS },
        environment: schemaRef('admin.Environment'),
        limit: { type: 'integer', minimum: 1, maximum: 1000, default: 50, description: 'Users of a page.' },
        cursor: { type: 'string', description: '`nextCursor` of the page before.' },
      },
      ['id', 'environment', 'limit', 'cursor'],
    ),
    additionalProperties: false,
  },
  'admin.RoleWhoCan': objectOf({ role: { type: 'string', enum: [...ASSIGNABLE_ROLES] }, effect: CAN, ...foreseen }, ['when']),
  'admin.UserWhoCan': objectOf(
    {
      ...{ id: TEXT, name: TEXT, email: TEXT, role: TEXT, effect: CAN, ...foreseen },
      via: { type: 'string', enum: ['user', 'role'], description: '`user` where only an assignment of their own gives them the rule.' },
    },
    ['name', 'when'],
  ),
  'admin.PermissionsQuestion': {
    type: 'object',
    properties: {
      resources: { ...arrayOf(TEXT), minItems: 1, description: 'All where absent.' },
      environment: schemaRef('admin.Environment'),
      cursor: { type: 'string', description: '`nextCursor` of the answer before.' },
    },
    additionalProperties: false,
  },
  'admin.Permission': objectOf(
    {
      resource: TEXT,
      action: { type: 'string', enum: [...RULE_ACTIONS] },
      effect: { type: 'string', enum: ['allow', 'deny', 'conditional'] },
      reason: TEXT,
      ...foreseen,
    },
    ['rule', 'policy', 'when'],
  ),
};

/** One condition with what it met: a comparison, a group of others, an expression, or a constant. */
function conditionTrace(): JsonObject {
  const self = schemaRef('admin.ConditionTrace');
  return objectOf(
    {
      type: { type: 'string', enum: ['comparison', 'all', 'any', 'not', 'expression', 'constant'] },
      answer: ANSWER,
      field: TEXT,
      operator: TEXT,
      expected: { description: 'The right side with its references put in.' },
      written: { type: 'string', description: 'The right side as it was written, where it refers to something.' },
      actual: { description: 'What is at the field.' },
      missing: { const: true, description: 'Nothing is at the field.' },
      ifExists: { const: true },
      source: { type: 'string', description: 'Of an expression.' },
      of: { description: 'The members of a group; of a `not`, the one.', anyOf: [arrayOf(self), self] },
    },
    ['field', 'operator', 'expected', 'written', 'actual', 'missing', 'ifExists', 'source', 'of'],
  );
}
