import { describe, expect, it } from 'vitest';
import { FIELD_TYPES } from '../../fields/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { parseDefinition, type Resource, validateValues } from '../../resources/index.ts';
import { definitions } from '../api-document.fixture.ts';
import { createExamples } from './record-examples.ts';
import { withoutSecretFields } from './record-forms.ts';

function resourceOf(fields: JsonObject, options: JsonObject = {}): Resource {
  const { resource, mistakes } = parseDefinition({ name: 'Page', fields, ...options });
  if (resource === undefined) throw new Error(JSON.stringify(mistakes));
  return resource;
}

function mistakesIn(resource: Resource, values: JsonObject, mode: 'create' | 'update'): readonly string[] {
  return validateValues(resource, values, { mode, isAdmin: false }).issues.map(({ path, detail }) => `${path}: ${detail}`);
}

describe('createExamples', () => {
  it.each([...definitions.values()].filter(({ internal }) => !internal).map((resource) => [resource.name, resource] as const))(
    'the examples of %s are values that the service accepts',
    (_name, resource) => {
      const open = withoutSecretFields(resource);
      const { create, update } = createExamples(open);
      expect(create).toBeDefined();
      expect([mistakesIn(open, create ?? {}, 'create'), mistakesIn(open, update, 'update')]).toEqual([[], []]);
    },
  );

  it('every field type has an example that fits', () => {
    const own: Readonly<Record<string, JsonObject>> = { enum: { values: ['front'] }, list: { of: 'string' }, reference: { to: 'Page' } };
    const types = [...FIELD_TYPES.keys()].filter((type) => type !== 'password');
    const resource = resourceOf(Object.fromEntries(types.map((type) => [`a${type}`, { type, ...own[type] }])));
    const { create = {} } = createExamples(resource);
    expect(Object.keys(create)).toEqual(types.map((type) => `a${type}`));
    expect(mistakesIn(resource, create, 'create')).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ['an upper case pattern', { type: 'string', pattern: '^[A-Z]+$' }],
    ['a slug', { type: 'string', pattern: '^[a-z-]+$', maxLength: 8 }],
    ['a long text', { type: 'text', minLength: 500 }],
    ['a short text', { type: 'string', maxLength: 1 }],
    ['a range of numbers', { type: 'integer', min: 1000, max: 1001 }],
    ['a decimal without places', { type: 'decimal', scale: 0, min: '5' }],
    ['a future timestamp', { type: 'timestamp', min: '2099-01-01T00:00:00Z' }],
    ['a list of several items', { type: 'list', of: { type: 'integer', max: 5 }, minLength: 3 }],
  ])('an example fits the limits of %s', (_name, field) => {
    const resource = resourceOf({ value: { ...field, required: true } });
    const { create = {} } = createExamples(resource);
    expect(create).toHaveProperty('value');
    expect(mistakesIn(resource, create, 'create')).toEqual([]);
  });

  it('a resource with a required field that no example fits has no example of a new record', () => {
    const { create, record } = createExamples(resourceOf({ code: { type: 'string', required: true, pattern: '^[A-Z]{3}:[0-9]{7}$' } }));
    expect([create, record['code']]).toEqual([undefined, null]);
  });

  it('a new record has no guarded field, and a record that is not deleted no time of deletion', () => {
    expect(createExamples(withoutSecretFields(definitions.get('User') as Resource)).create).not.toHaveProperty('role');
    expect(createExamples(resourceOf({ title: { type: 'string' } }, { softDelete: true })).record).toMatchObject({
      deletedAt: null,
      deletedBy: null,
    });
  });

  it('a filter names a unique field, and the same definition gives the same examples', () => {
    const resource = resourceOf({ title: { type: 'string' }, slug: { type: 'string', unique: true } });
    expect(createExamples(resource).filter).toEqual({ slug: 'Harbour reopens' });
    expect(createExamples(resourceOf({ title: { type: 'string' } })).filter).toEqual({ id: createExamples(resource).id });
    expect(createExamples(resource)).toEqual(createExamples(resource));
  });
});
