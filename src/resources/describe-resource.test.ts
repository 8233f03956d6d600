import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { FIELD_TYPES } from '../fields/index.ts';
import type { JsonObject } from '../operators/index.ts';
import { definitionSchema } from './definition-schema.ts';
import { describeResource, recordSchema } from './describe-resource.ts';
import { parseDefinition } from './parse-definition.ts';
import type { Resource } from './resource.ts';

const source: JsonObject = {
  name: 'Article',
  description: 'Articles of the newsroom.',
  fields: {
    title: { type: 'string', required: true, maxLength: 200, description: 'As printed.' },
    status: { type: 'enum', values: ['draft', 'published'], default: 'draft', required: true },
    tags: { type: 'list', of: { type: 'string', maxLength: 20 } },
    slug: { type: 'string', immutable: true },
    secret: { type: 'string', writeOnly: true },
  },
  indexes: [{ fields: ['status', 'createdAt'] }],
};

function resourceOf(definition: JsonObject): Resource {
  const { resource, mistakes } = parseDefinition(definition);
  if (resource === undefined) throw new Error(JSON.stringify(mistakes));
  return resource;
}

describe('describeResource', () => {
  const described = describeResource(resourceOf(source));

  it('lists the fields with their options and operators', () => {
    const fields = described['fields'] as readonly JsonObject[];
    expect(fields.map((field) => field['name'])).toEqual(
      'id version createdAt updatedAt createdBy title status tags slug secret'.split(' '),
    );
    expect(fields.find((field) => field['name'] === 'title')).toMatchObject({
      type: 'string',
      required: true,
      maxLength: 200,
      description: 'As printed.',
      operators: expect.arrayContaining(['eq', 'contains', 'isNull']),
    });
    expect(fields.find((field) => field['name'] === 'tags')).toMatchObject({
      of: { type: 'string', maxLength: 20 },
      operators: expect.arrayContaining(['has']),
    });
    expect(fields.find((field) => field['name'] === 'secret')).toMatchObject({ writeOnly: true, operators: [] });
  });

  it('the description contains the JSON Schemas of create and update', () => {
    expect(described).toMatchObject({
      name: 'Article',
      indexes: [{ fields: ['status', 'createdAt'], unique: false }],
      jsonSchema: {
        create: {
          required: ['title'],
          additionalProperties: false,
          properties: {
            title: { type: 'string', maxLength: 200 },
            status: { type: 'string', enum: ['draft', 'published'], default: 'draft' },
            tags: { type: ['array', 'null'], items: { type: 'string', maxLength: 20 } },
            secret: { writeOnly: true },
          },
        },
      },
    });
    const update = (described['jsonSchema'] as JsonObject)['update'] as JsonObject;
    expect(Object.keys(update['properties'] as JsonObject)).toEqual(['title', 'status', 'tags', 'secret']);
    expect(update['required']).toBeUndefined();
    expect((update['properties'] as JsonObject)['status']).toEqual({ type: 'string', enum: ['draft', 'published'] });
  });

  it('omits secret fields from the schema of records', () => {
    expect(Object.keys(recordSchema(resourceOf(source))['properties'] as JsonObject)).not.toContain('secret');
  });

  it('the schema of records has no default, and decimals as text, also in lists', () => {
    const fields = {
      fee: { type: 'decimal', default: '1.00', required: true },
      fees: { type: 'list', of: 'decimal', maxLength: 3 },
    };
    expect(recordSchema(resourceOf({ name: 'Article', fields }))['properties']).toMatchObject({
      fee: { type: 'string', description: expect.any(String) },
      fees: { type: ['array', 'null'], items: { type: 'string' }, maxItems: 3 },
    });
    expect(JSON.stringify(recordSchema(resourceOf({ name: 'Article', fields })))).not.toContain('default');
  });

  it('the description contains schemas that a JSON Schema validator accepts', () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false });
    const validate = ajv.compile((described['jsonSchema'] as JsonObject)['create'] as JsonObject);
    expect(validate({ title: 'Harbour', tags: null, slug: null })).toBe(true);
    expect(validate({ title: 'Harbour', other: 1 })).toBe(false);
  });
});

describe('definitionSchema', () => {
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true }).compile(definitionSchema());

  it('accepts a definition that parseDefinition accepts', () => {
    expect(validate(source) ? [] : validate.errors).toEqual([]);
  });

  it.each<[name: string, definition: JsonObject]>([
    ['an unknown member', { ...source, fileds: {} }],
    ['an unknown type', { name: 'A', fields: { a: { type: 'strng' } } }],
    ['a mistyped option', { name: 'A', fields: { a: { type: 'string', maxLenght: 3 } } }],
    ['an option of another type', { name: 'A', fields: { a: { type: 'boolean', maxLength: 3 } } }],
    ['an unknown action', { name: 'A', fields: { a: { type: 'string' } }, permissions: { publish: ['anon'] } }],
    ['a list of lists', { name: 'A', fields: { a: { type: 'list', of: 'list' } } }],
  ])('refuses %s, as parseDefinition does', (_name, definition) => {
    expect(validate(definition)).toBe(false);
    expect(parseDefinition(definition).mistakes).not.toEqual([]);
  });

  it('the schema of definitions contains every field type', () => {
    const field = (definitionSchema()['$defs'] as JsonObject)['field'] as JsonObject;
    expect(field['oneOf']).toHaveLength(FIELD_TYPES.size);
  });
});
