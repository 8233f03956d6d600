import { RULE_ACTIONS } from '../actions.ts';
import { FIELD_TYPES, type FieldType } from '../fields/index.ts';
import type { JsonObject } from '../operators/index.ts';
import { COMMON_OPTIONS, OPTION_FORMS, type WrittenOption } from './field-options.ts';
import { ASSIGNABLE_ROLES } from './parse-definition.ts';

const NAME = { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9_]{0,62}$' };

/** Returns the `$id` of a schema for editors: a name, because the same schema is a file of the package and a response of each service. */
export function toSchemaId(file: string): string {
  return `urn:bailiwick:${file}`;
}

/**
 * Returns the JSON Schema (2020-12) of definition files, for editors. It describes each option; combinations of options are validated when a
 * definition is loaded.
 */
export function definitionSchema(): JsonObject {
  const types = [...FIELD_TYPES.values()];
  const itemTypes = types.filter(isItemType);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: toSchemaId('definition.schema.json'),
    title: 'Bailiwick definition',
    description: 'A resource: its fields, indexes and legacy permissions.',
    type: 'object',
    properties: {
      name: { ...NAME, description: 'The name of the resource, as in /api/<name>.' },
      description: { type: 'string', description: 'Purpose of the resource.' },
      renamedFrom: { ...NAME, description: 'Previous name of the resource; its records are kept, and policies are renamed with it.' },
      fields: {
        type: 'object',
        description: 'Field name → field.',
        propertyNames: NAME,
        minProperties: 1,
        additionalProperties: { $ref: '#/$defs/field' },
      },
      indexes: { type: 'array', description: 'Indexes over several fields.', items: { $ref: '#/$defs/index' } },
      softDelete: { type: 'boolean', description: 'True if deleted records are kept, hidden, and can be restored.' },
      checksum: { type: 'boolean', description: 'True if each record has a checksum, which is compared when the record is loaded.' },
      permissions: permissionsSchema(),
    },
    required: ['name', 'fields'],
    additionalProperties: false,
    $defs: {
      field: { oneOf: fieldForms(types, (type) => [...COMMON_OPTIONS, ...type.options]) },
      item: {
        description: OPTION_FORMS.of.summary,
        oneOf: [{ enum: itemTypes.map((type) => type.name) }, ...fieldForms(itemTypes, (type) => ['description', ...type.options])],
      },
      index: indexSchema(),
    },
  };
}

// Returns one schema per type, so that editors offer only the options of the chosen type.
function fieldForms(types: readonly FieldType[], optionsOf: (type: FieldType) => readonly WrittenOption[]): readonly JsonObject[] {
  return types.map((type) => ({
    type: 'object',
    description: type.summary,
    properties: {
      type: { const: type.name },
      ...Object.fromEntries(optionsOf(type).map((option) => [option, optionSchema(option)])),
    },
    required: ['type'],
    additionalProperties: false,
  }));
}

function optionSchema(option: WrittenOption): JsonObject {
  if (option === 'of') return { $ref: '#/$defs/item' };
  return { ...OPTION_FORMS[option].schema, description: OPTION_FORMS[option].summary };
}

function isItemType(type: FieldType): boolean {
  return type.kind !== undefined && type.kind !== 'list' && type.kind !== 'json';
}

function indexSchema(): JsonObject {
  return {
    type: 'object',
    properties: {
      fields: { type: 'array', items: NAME, minItems: 1, maxItems: 8, uniqueItems: true },
      unique: { type: 'boolean', description: 'True if no two records can have the same values.' },
      where: {
        type: 'object',
        description: 'Field → value: the index contains only the records with these values.',
        propertyNames: NAME,
        additionalProperties: { type: ['string', 'number', 'boolean'] },
        minProperties: 1,
        maxProperties: 4,
      },
    },
    required: ['fields'],
    additionalProperties: false,
  };
}

function permissionsSchema(): JsonObject {
  return {
    type: 'object',
    description: 'Legacy map, action → roles. Not enforced: `bailiwick policies from-permissions` converts it into policies.',
    propertyNames: { enum: RULE_ACTIONS },
    additionalProperties: { type: 'array', items: { enum: ASSIGNABLE_ROLES } },
  };
}
