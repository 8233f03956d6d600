import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../../test/budget.ts';
import { FIELD_TYPES, type Field } from '../fields/index.ts';
import type { Json } from '../operators/index.ts';
import { createAjv } from '../validation/index.ts';
import { article } from './article.fixture.ts';
import { fitsSimpleSchema, validateFieldValue } from './validate-shape.ts';

function field(name: string, options: Partial<Field> = {}): Field {
  const found = article.fields.get(name);
  if (found === undefined) throw new Error(`expected a field, given ${name}`);
  return { ...found, ...options };
}

describe('validateFieldValue', () => {
  it.each<[what: string, name: string, value: Json, path: string | undefined]>([
    ['a valid text', 'title', 'Harbour', undefined],
    ['a number as text', 'title', 1, 'title'],
    ['text as a boolean', 'live', 'yes', 'live'],
    ['text that is no email address', 'authorEmail', 'ada', 'authorEmail'],
    ['a number in a list of texts', 'tags', ['a', 1, 'b'], 'tags.1'],
    ['a very long text', 'title', 'x'.repeat(1_000_000), 'title'],
  ])('returns the paths of mistakes: %s', (_, name, value, path) => {
    expect(validateFieldValue(field(name), value).map((issue) => issue.path)).toEqual(path === undefined ? [] : [path]);
  });

  it('uses the options of the given field, not those of a similar one', () => {
    const [few, more] = [field('views', { name: 'few', max: 1 }), field('views', { name: 'more', max: 2 })];
    for (let again = 0; again < 2; again++) {
      expect(validateFieldValue(few, 2)).toMatchObject([{ path: 'few', code: 'range' }]);
      expect(validateFieldValue(more, 2)).toEqual([]);
    }
  });

  it('validates more fields than its cache holds', () => {
    for (let max = 0; max < 120; max++) expect(validateFieldValue(field('views', { max }), max + 1).length).toBe(1);
    expect(validateFieldValue(field('views', { max: 0 }), 0)).toEqual([]);
  });
});

describe('fitsSimpleSchema', () => {
  const options: readonly Partial<Field>[] = [
    { type: 'boolean' },
    { type: 'enum', values: ['draft', 'published', ''] },
    { type: 'integer' },
    { type: 'integer', min: 0, max: 10 },
    { type: 'json' },
    { type: 'list', of: { type: 'string' } as Field },
    { type: 'list', of: { type: 'string' } as Field, minLength: 1 },
    { type: 'string' },
    { type: 'number', min: 0 },
  ];
  const schemas = options.map((option) => FIELD_TYPES.get(option.type ?? '')?.jsonSchema({ name: 'x', ...option } as Field) ?? {});
  const values = fc.oneof(
    fc.constantFrom<Json>(true, false, 'draft', '', 'x', 0, -0, 5, 10, 11, -1, 0.5, 2 ** 53, [], {}, ['a'], null),
    fc.jsonValue() as fc.Arbitrary<Json>,
  );

  it('accepts only values that Ajv accepts', () => {
    const validate = schemas.map((schema) => createAjv().compile(schema));
    fc.assert(
      fc.property(fc.nat(schemas.length - 1), values, (index, value) => {
        fc.pre(fitsSimpleSchema(schemas[index] ?? {}, value));
        expect(validate[index]?.(value)).toBe(true);
      }),
      { numRuns: casesOf(200) },
    );
  });

  it.each<[Partial<Field>['type'] & string, Json, boolean]>([
    ['boolean', true, true],
    ['enum', 'draft', true],
    ['enum', 'other', false],
    ['integer', 5, true],
    ['integer', 0.5, false],
    ['list', [], true],
    ['string', 'a', false],
  ])('decides for a field of type %s and the value %j: %s', (type, value, expected) => {
    const at = options.findIndex((option) => option.type === type);
    expect(fitsSimpleSchema(schemas[at] ?? {}, value)).toBe(expected);
  });
});
