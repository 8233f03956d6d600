/** The tables of operators, field types and actions, which are the same in every catalogue. They name no resource. */
import { hash } from 'node:crypto';
import { ACTIONS, RULE_ACTIONS } from '../../actions.ts';
import { WITHIN } from '../../conditions/index.ts';
import { FIELD_TYPES } from '../../fields/index.ts';
import { type Kind, OPERATORS } from '../../operators/index.ts';
import { OneOf, Type, type TypeOf } from '../../schemas/index.ts';
import { TEXT } from '../schema-members.ts';

const KINDS = ['text', 'number', 'decimal', 'boolean', 'date', 'timestamp', 'list', 'json'] as const satisfies readonly Kind[];
/** The schema of a kind of values. */
export const KIND = OneOf(KINDS, { description: 'The kind that values are compared as.' });

const OPERATOR = Type.Object({
  name: TEXT,
  label: Type.String({ description: 'The text in menus, such as `is one of`.' }),
  summary: TEXT,
  kinds: Type.Array(KIND, { description: 'The kinds of values that the left side may have.' }),
  operand: Type.String({ description: 'The form of the right side, such as `scalar`, `range`, `duration` or `recordIds`.' }),
  negator: Type.Optional(Type.String({ description: 'The operator that is true if this one is false.' })),
  definedOnMissing: Type.Optional(Type.Unsafe<true>({ const: true, description: 'The operator is also defined on a missing value.' })),
  needsHierarchy: Type.Optional(
    Type.Unsafe<true>({
      const: true,
      description: 'The left side must identify a record of a resource with a hierarchy. Only conditions have such operators, not filters.',
    }),
  ),
});

const FIELD_TYPE = Type.Object({
  name: TEXT,
  label: TEXT,
  summary: TEXT,
  kind: Type.Optional(KIND),
  form: Type.String({ description: 'The control in a form, such as `checkbox` or `datetime`.' }),
});

const ACTION = Type.Object({
  name: TEXT,
  decides: OneOf(RULE_ACTIONS, { description: 'The rule action that a request for this action must be allowed.' }),
  alsoDecides: Type.Optional(OneOf(RULE_ACTIONS)),
  takes: Type.Array(TEXT, { description: 'The members of the body of `POST /api/:resource/:action`.' }),
  summary: TEXT,
});

/** The members of a catalogue that contain the tables. */
export const TABLES = {
  operators: Type.Array(OPERATOR),
  fieldTypes: Type.Array(FIELD_TYPE),
  actions: Type.Array(ACTION, { description: 'The actions of the API.' }),
} as const;

interface Tables {
  readonly operators: TypeOf<typeof OPERATOR>[];
  readonly fieldTypes: TypeOf<typeof FIELD_TYPE>[];
  readonly actions: TypeOf<typeof ACTION>[];
}

/** Returns the tables. */
export function describeTables(): Tables {
  return {
    operators: [
      ...[...OPERATORS.values()].map(({ name, label, summary, kinds, operand, negator, definedOnMissing }) => ({
        ...{ name, label, summary, kinds: [...kinds], operand },
        ...(negator !== undefined && { negator }),
        ...(definedOnMissing === true && { definedOnMissing }),
      })),
      { ...WITHIN, kinds: ['text'], operand: 'recordIds', needsHierarchy: true },
    ],
    fieldTypes: [...FIELD_TYPES.values()].map(({ name, label, summary, kind, form }) => ({
      ...{ name, label, summary, form },
      ...(kind !== undefined && { kind }),
    })),
    actions: [...ACTIONS.values()].map(({ name, decides, alsoDecides, takes, summary }) => ({
      ...{ name, decides, takes: [...takes], summary },
      ...(alsoDecides !== undefined && { alsoDecides }),
    })),
  };
}

/** Returns the first row of each table, for examples. */
export function exampleTables(): Tables {
  const { operators, fieldTypes, actions } = describeTables();
  return { operators: operators.slice(0, 1), fieldTypes: fieldTypes.slice(0, 1), actions: actions.slice(0, 1) };
}

/** Returns the `ETag` of a response that has no version of its own: a hash of its content. */
export function toContentETag(content: object): string {
  return `"${hash('sha256', JSON.stringify(content), 'base64url')}"`;
}
