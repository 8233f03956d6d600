/** The schema of the response of `GET /api/:resource/schema`. */
import { component, Nullable, Type } from '../../schemas/index.ts';
import { TEXT } from '../schema-members.ts';

const ANY = Type.Unsafe<unknown>({});
const ANY_OBJECT = Type.Unsafe<object>({ type: 'object', additionalProperties: true });
const BOUND = Type.Optional(Type.Unsafe<string | number>({ type: ['string', 'number'] }));
const LENGTH = Type.Optional(Type.Integer());
const FLAG = Type.Boolean();

const OPTIONS = {
  type: Type.String({ description: 'Name of the field type.' }),
  description: Type.Optional(TEXT),
  min: BOUND,
  max: BOUND,
  minLength: LENGTH,
  maxLength: LENGTH,
  pattern: Type.Optional(TEXT),
  values: Type.Optional(Type.Array(TEXT, { description: 'The values of an enum.' })),
  scale: Type.Optional(Type.Integer({ description: 'The digits of a decimal after the point.' })),
  to: Type.Optional(Type.String({ description: 'The resource that a reference points to.' })),
  onDelete: Type.Optional(TEXT),
};

const FIELD = component(
  'api.FieldDescription',
  Type.Object({
    name: TEXT,
    ...OPTIONS,
    required: FLAG,
    unique: FLAG,
    index: FLAG,
    readOnly: Type.Boolean({ description: 'True if only the service sets the field.' }),
    writeOnly: Type.Boolean({ description: 'True if requests may set the field and responses never contain it.' }),
    immutable: Type.Boolean({ description: 'True if the field is accepted on create and rejected in updates.' }),
    guarded: Type.Boolean({ description: 'True if only an admin may set a value other than the default.' }),
    hierarchy: Type.Optional(Type.Boolean({ description: 'True if the reference leads to the parent of the record.' })),
    default: Type.Optional(ANY),
    of: Type.Optional(Type.Object(OPTIONS, { description: 'The items of a list.' })),
    operators: Type.Array(TEXT, { description: 'The operators that a filter on the field may use.' }),
  }),
);

/** The schema of the description of a resource. */
export const RESOURCE_DESCRIPTION = component(
  'api.ResourceDescription',
  Type.Object({
    name: TEXT,
    description: Nullable(TEXT),
    fields: Type.Array(FIELD),
    indexes: Type.Array(Type.Object({ fields: Type.Array(TEXT), unique: FLAG, where: Type.Optional(ANY_OBJECT) })),
    softDelete: Type.Optional(Type.Unsafe<true>({ const: true })),
    jsonSchema: Type.Object({ create: ANY_OBJECT, update: ANY_OBJECT }, { description: 'JSON Schemas of the accepted values.' }),
  }),
);

/** Returns an example of the description of a resource. */
export function resourceDescriptionExample(name: string, description: string | undefined): object {
  const flags = { required: true, unique: true, index: false, readOnly: true, writeOnly: false, immutable: false, guarded: false };
  return {
    name,
    description: description ?? null,
    fields: [{ name: 'id', type: 'uuid', ...flags, operators: ['eq', 'ne', 'in', 'nin'] }],
    indexes: [],
    jsonSchema: { create: { type: 'object' }, update: { type: 'object' } },
  };
}
