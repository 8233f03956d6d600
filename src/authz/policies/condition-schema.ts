import { CONTEXT_GROUPS, WITHIN } from '../../conditions/index.ts';
import { type JsonObject, OPERATORS } from '../../operators/index.ts';
import { component, described, Input, OneOf, type Schema, Type } from '../../schemas/index.ts';

// Groups contain conditions. JSON Schema has no other way to name the schema itself.
const SELF = Type.Unsafe<JsonObject>({ $ref: '#/components/schemas/admin.Condition' });
const GROUP = Type.Array(SELF, { minItems: 1 });

const COMPARISON = Input(
  {
    field: Type.String({ description: 'A dotted path, with its group in front or in `context`.', examples: ['user.department'] }),
    operator: OneOf([...OPERATORS.keys(), WITHIN.name], {
      description: [...OPERATORS.values(), WITHIN].map(({ name, summary }) => `\`${name}\`: ${summary}`).join('  \n'),
    }),
    value: Type.Optional(
      Type.Unknown({
        description: `A literal, an array, or \`\${path}\`: a value of the context.`,
        examples: ['draft', `\${resource.authorId}`],
      }),
    ),
    context: Type.Optional(OneOf(CONTEXT_GROUPS)),
    ifExists: Type.Optional(
      Type.Boolean({ description: 'If true, the comparison is false instead of unknown for a missing field. Default: false.' }),
    ),
  },
  { title: 'Comparison' },
);

const RELATED = Input({
  resource: Type.String({ maxLength: 64, description: 'The resource whose records are counted.', examples: ['Membership'] }),
  as: Type.String({ maxLength: 32, description: 'The name with which fields in `where` begin.', examples: ['m'] }),
  on: Type.Unsafe<JsonObject>({
    type: 'object',
    minProperties: 1,
    additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
    description: 'Fields of the related resource, and the values that they equal. If a value is missing, the condition is unknown.',
    examples: [{ userId: `\${user.id}`, organisationId: `\${resource.organisationId}` }],
  }),
  where: Type.Optional(Type.Array(SELF, { minItems: 1, description: 'Conditions that are true for a counted record.' })),
  atLeast: Type.Optional(Type.Integer({ minimum: 1, description: 'Default: 1, if `atMost` is absent.' })),
  atMost: Type.Optional(Type.Integer({ minimum: 0 })),
});

const FORMS: readonly Schema[] = [
  COMPARISON,
  Input({ allOf: GROUP }, { title: 'All of' }),
  Input({ anyOf: GROUP }, { title: 'Any of' }),
  Input({ not: SELF }, { title: 'Not' }),
  Input({ related: RELATED }, { title: 'Related records' }),
  Input({ expression: Type.String({ description: 'CEL' }) }, { title: 'Expression, in CUSTOM policies' }),
];

/** A condition of a rule. `parseConditions` validates it. */
export const CONDITION = component('admin.Condition', described<JsonObject>({ oneOf: FORMS }));
