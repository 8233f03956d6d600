/** The schemas of explanations, which the audit log and access tests return. */
import type { Explanation } from '../../authz/decision/index.ts';
import { EFFECTS, POLICY_TYPES } from '../../authz/policies/index.ts';
import type { ConditionTrace } from '../../conditions/index.ts';
import { component, OneOf, type SchemaOf, Type } from '../../schemas/index.ts';
import { TEXT } from '../schema-members.ts';

const PRIORITY = Type.Integer();

/** The schema of a rule in a response. */
export const NAMED_RULE = Type.Object({ id: TEXT, description: Type.Optional(TEXT) });
/** The schema of a policy in a response. */
export const NAMED_POLICY = Type.Object({ id: TEXT, name: TEXT });
const ANSWER = OneOf(['true', 'false', 'unknown', 'open'] as const, {
  description: '`open`: the result depends on an unknown value, such as the record of a list.',
});
const MISSING = Type.Optional(Type.Array(TEXT, { description: 'Paths without a value that the conditions read.' }));

/** The members of a rule with the values that determine its precedence. */
const RANKED = {
  rule: Type.Object({ id: TEXT, description: Type.Optional(TEXT), effect: OneOf(EFFECTS), priority: PRIORITY }),
  policy: Type.Object({ id: TEXT, name: TEXT, type: OneOf(POLICY_TYPES), priority: PRIORITY }),
  assignment: Type.Object({ priority: PRIORITY }),
} as const;

const CONDITION_TRACE = createConditionTrace();

/** The members of a residual condition. */
export const RESIDUAL = {
  when: Type.Optional(Type.String({ description: 'The residual condition as text. The request is allowed if it is true.' })),
  /** Absent if the text is cut. */
  residual: Type.Optional(CONDITION_TRACE),
} as const;

const RULE_TRACE = component(
  'admin.RuleTrace',
  Type.Object({
    ...RANKED,
    answer: ANSWER,
    fired: Type.Boolean({ description: 'True if the rule determined the decision.' }),
    condition: CONDITION_TRACE,
    missing: MISSING,
  }),
);

const TIED_RULE = component(
  'admin.TiedRule',
  Type.Object({
    ...RANKED,
    answer: ANSWER,
    brokenBy: OneOf(['DENY before ALLOW', 'rule id'] as const, {
      description: 'The criterion that determined the order of the two rules.',
    }),
  }),
);

const NEARBY_RULE = component(
  'admin.NearbyRule',
  Type.Object({
    ...RANKED,
    unmet: Type.Array(CONDITION_TRACE, { description: 'The unmet conditions. For an `any`, one of them is sufficient.' }),
    missing: MISSING,
    overruledBy: Type.Optional(Type.Object(RANKED, { description: 'The DENY that fires even if the conditions are met.' })),
  }),
);

/** The members of an explanation, except its decision. */
export const EXPLAINED = {
  trace: Type.Array(RULE_TRACE, { description: 'The evaluated rules, in order.' }),
  ties: Type.Array(TIED_RULE, {
    description: 'Rules with the same priorities as the deciding rule that would also have fired. At most 20.',
  }),
  ...RESIDUAL,
  wouldAllow: Type.Optional(
    Type.Array(NEARBY_RULE, { description: 'For a denial: the ALLOW rules with the fewest unmet conditions. At most five.' }),
  ),
  note: Type.Optional(
    Type.String({ description: 'For a denial: a note if no ALLOW rule applies, or if only the changed record is denied.' }),
  ),
} as const;

/** An example: editors may read every article. */
export const EXPLANATION_EXAMPLE: Omit<Explanation, 'decision'> = {
  trace: [
    {
      rule: { id: '0198c0de-0000-7000-8000-000000000002', description: 'editors read every article', effect: 'ALLOW', priority: 100 },
      policy: { id: '0198c0de-0000-7000-8000-000000000001', name: 'Editors', type: 'ATTRIBUTE_BASED', priority: 100 },
      assignment: { priority: 100 },
      answer: 'true',
      fired: true,
      condition: {
        type: 'comparison',
        field: 'user.position',
        operator: 'eq',
        expected: 'editor',
        actual: 'editor',
        answer: 'true',
      },
    },
  ],
  ties: [],
};

/** Creates the schema of an evaluated condition: a comparison, a group, an expression or a constant. It contains itself. */
function createConditionTrace(): SchemaOf<ConditionTrace> {
  const properties: Record<string, object> = {
    type: OneOf(['comparison', 'all', 'any', 'not', 'related', 'expression', 'constant']),
    answer: ANSWER,
    field: TEXT,
    operator: TEXT,
    expected: { description: 'The right side, with references replaced by their values.' },
    written: { type: 'string', description: 'The right side as written, if it contains a reference, or is too long for `expected`.' },
    actual: { description: 'The value of the field.' },
    missing: { const: true, description: 'The field has no value.' },
    ifExists: { const: true },
    ancestors: ancestorsSchema(),
    source: { type: 'string', description: 'The text of an expression.' },
    ...relatedProperties(),
  };
  const schema = component(
    'admin.ConditionTrace',
    Type.Unsafe<ConditionTrace>({ type: 'object', properties, required: ['type', 'answer'] }),
  );
  properties['records'] = {
    type: 'array',
    description: 'At most three related records: those that meet `where` first, then those with the fewest unmet comparisons.',
    items: {
      type: 'object',
      properties: {
        id: TEXT,
        missing: { const: true, description: 'The item of a list leads to no record.' },
        answer: ANSWER,
        where: schema,
      },
      required: ['id', 'answer', 'where'],
    },
  };
  // The condition on a related record; present if the related records are not known.
  properties['where'] = schema;
  properties['of'] = {
    description: 'The members of a group; the single member of a `not`.',
    anyOf: [{ type: 'array', items: schema }, schema],
  };
  return schema;
}

/** Returns the schema of the records that `within` compares. */
function ancestorsSchema(): object {
  return {
    type: 'object',
    description: 'The records that `within` compares; absent if they are not known.',
    properties: {
      resource: TEXT,
      ids: { type: 'array', items: TEXT, description: 'Ids of the existing records, from the first one upwards.' },
      matched: { type: 'string', description: 'The first of them that is among the expected ids.' },
      end: OneOf(['root', 'missing', 'cycle', 'limit'], {
        description:
          'Why there are no more: the last one has no parent (`root`), its parent does not exist or is soft-deleted (`missing`), they form a `cycle`, or there are more than the `limit`.',
      }),
    },
    required: ['resource', 'ids', 'end'],
  };
}

/** Returns the members of a condition on related records, except its records. */
function relatedProperties(): Readonly<Record<string, object>> {
  return {
    resource: { type: 'string', description: 'The related resource.' },
    as: { type: 'string', description: 'The name with which fields in `where` begin.' },
    list: {
      type: 'string',
      description: 'For a comparison through a list of references, the path of the list; `on` has its items, and `records` their records.',
    },
    on: {
      type: 'array',
      description: 'The fields of the related resource, and the values that they equal.',
      items: { type: 'object', properties: { field: TEXT, expected: {}, written: TEXT, missing: { const: true } }, required: ['field'] },
    },
    atLeast: { type: 'integer' },
    atMost: { type: 'integer' },
    moreThan: { type: 'integer', description: 'The maximum number of records that the condition counts; present if there are more.' },
    counts: {
      type: 'object',
      description: 'The number of related records by their result of `where`; absent if they are not known.',
      properties: { true: { type: 'integer' }, false: { type: 'integer' }, unknown: { type: 'integer' } },
      required: ['true', 'false', 'unknown'],
    },
  };
}
