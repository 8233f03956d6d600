import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { parseDefinition, type Resource } from '../../resources/index.ts';
import { componentName } from '../../schemas/index.ts';
import { filterSchemas } from './record-filters.ts';

const { resource } = parseDefinition({
  name: 'Page',
  fields: {
    title: { type: 'string' },
    kind: { type: 'enum', values: ['front', 'back'] },
    kinds: { type: 'list', of: { type: 'enum', values: ['front', 'back'] } },
    numbers: { type: 'list', of: 'integer' },
    extra: { type: 'json' },
    code: { type: 'string', writeOnly: true },
  },
});
const filters = filterSchemas(resource as Resource);
const plain = (field: string): JsonObject => JSON.parse(JSON.stringify(filters[field])) as JsonObject;

describe('filterSchemas', () => {
  it.each([
    ['id', 'filter.text'],
    ['title', 'filter.text'],
    ['version', 'filter.number'],
    ['createdAt', 'filter.timestamp'],
    ['kind', 'Page.where.kind'],
    ['kinds', 'Page.where.kinds'],
    ['numbers', 'filter.list.number'],
    ['extra', 'filter.json'],
  ])('the filter on %s is the component %s', (field, name) => {
    expect(componentName(filters[field] as unknown as JsonObject)).toBe(name);
  });

  it('a secret field has no filter', () => {
    expect(filters).not.toHaveProperty('code');
  });

  it('a filter is a value, or operators with their operands', () => {
    const [value, operators] = plain('title')['oneOf'] as readonly [JsonObject, JsonObject];
    expect(value).toEqual({ type: 'string' });
    expect(operators).toMatchObject({
      properties: { eq: { type: 'string' }, in: { type: 'array', items: { type: 'string' } }, isNull: { type: 'boolean' } },
      additionalProperties: false,
      minProperties: 1,
    });
  });

  it('operators that compare an enum take its values, operators on parts of a text any text', () => {
    const values = { type: 'string', enum: ['front', 'back'] };
    const [value, { properties }] = plain('kind')['oneOf'] as readonly [JsonObject, JsonObject];
    expect(value).toMatchObject(values);
    expect(properties).toMatchObject({ eq: values, in: { items: values }, nin: { items: values }, contains: { type: 'string' } });
    expect((properties as JsonObject)['contains']).not.toHaveProperty('enum');
  });

  it('operators on a list take values of its items, and a list is never equal to a value', () => {
    expect(plain('numbers')).toMatchObject({ properties: { has: { type: 'number' }, hasAny: { items: { type: 'number' } } } });
    expect(plain('kinds')).toMatchObject({ properties: { has: { enum: ['front', 'back'] } } });
    expect(plain('numbers')).not.toHaveProperty('oneOf');
  });

  it('a JSON field has only filters on its presence', () => {
    expect(Object.keys(plain('extra')['properties'] as JsonObject)).toEqual(['exists', 'isNull']);
  });
});
