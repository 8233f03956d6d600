import { describe, expect, it } from 'vitest';
import type { Json } from '../operators/index.ts';
import { prepareValidators, validateSchema } from './validate-schema.ts';

const NUMBERS = { type: 'array', items: { type: 'integer' }, maxItems: 2 };
const TEXTS: Json = Array(1000).fill('x');
const MEMBERS: Json = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`m${index}`, 'x']));

function mistakesOf(schema: object, value: Json): readonly string[] {
  return validateSchema(schema, value)
    .map(({ code, path }) => `${code} ${path}`)
    .toSorted();
}

describe('validateSchema', () => {
  it.each([
    ['a list', NUMBERS, TEXTS, ['tooMany ', 'type 0', 'type 1']],
    ['a member', { type: 'object', properties: { a: NUMBERS } }, { a: TEXTS }, ['tooMany a', 'type a.0', 'type a.1']],
    ['any member', { type: 'object', additionalProperties: NUMBERS }, { a: TEXTS }, ['tooMany a', 'type a.0', 'type a.1']],
    ['a part of allOf', { allOf: [NUMBERS] }, TEXTS, ['tooMany ', 'type 0', 'type 1']],
    [
      'the members of an object',
      { type: 'object', additionalProperties: { type: 'integer' }, maxProperties: 2 },
      MEMBERS,
      ['tooMany ', 'type m0', 'type m1'],
    ],
    [
      'the members of an object beside its own',
      { type: 'object', properties: { m1: { type: 'boolean' } }, additionalProperties: { type: 'integer' }, maxProperties: 2 },
      MEMBERS,
      ['tooMany ', 'type m0', 'type m1'],
    ],
  ])('validates %s only up to its limit', (_, schema, value, mistakes) => {
    expect(mistakesOf(schema, value)).toEqual(mistakes);
  });

  it.each(['anyOf', 'oneOf'])('validates a list only up to the limit of an alternative of %s', (keyword) => {
    const paths = validateSchema({ [keyword]: [{ type: 'null' }, NUMBERS] }, TEXTS).map(({ path }) => path);
    expect(new Set(paths)).toEqual(new Set(['', '0', '1']));
  });

  it.each(['anyOf', 'oneOf', 'allOf'])('accepts a list within the limits of %s', (keyword) => {
    expect(mistakesOf({ [keyword]: [NUMBERS] }, [1, 2])).toEqual([]);
  });

  it('accepts a list that is too long for one alternative and not for another', () => {
    const schema = { anyOf: [NUMBERS, { type: 'array', items: { type: 'integer' }, maxItems: 3 }] };
    expect(mistakesOf(schema, [1, 2, 3])).toEqual([]);
    expect(mistakesOf(schema, [1, 2, 3, 4])).toEqual(['tooMany ']);
  });

  it('accepts the free members of an object up to their number', () => {
    const schema = { type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: true, maxProperties: 1000 };
    expect(mistakesOf(schema, MEMBERS)).toEqual([]);
    expect(mistakesOf(schema, { ...(MEMBERS as object), a: 1 })).toEqual(['tooMany ']);
  });

  it('names the permitted values of a missing member and of a value of another type, and the required members of an object', () => {
    const kind = { type: 'string', enum: ['user', 'role'] };
    const schema = {
      type: 'object',
      properties: { kind, items: { type: 'array', items: { type: 'object', required: ['role'] } } },
      required: ['kind'],
    };
    const detailsOf = (value: Json) => validateSchema(schema, value).map(({ detail }) => detail);
    expect(detailsOf({})).toEqual(['expected one of user, role, given none']);
    expect(detailsOf({ kind: ['user'], items: ['user'] })).toEqual([
      'expected one of user, role, given a list',
      'expected an object with role, given text',
    ]);
  });

  it('shows a query parameter of another type, but no member', () => {
    const schema = { type: 'object', properties: { limit: { type: 'integer' } } };
    expect(validateSchema(schema, { limit: 'ten' }, 'query parameter')).toMatchObject([{ detail: 'expected a whole number, given "ten"' }]);
    expect(validateSchema(schema, { limit: 'ten' })).toMatchObject([{ detail: 'expected a whole number, given text' }]);
  });

  it('does not list members that only the service sets if a member is unknown', () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, id: { type: 'string', readOnly: true } },
      additionalProperties: false,
    };
    const [issue] = validateSchema(schema, { nam: 'x' });
    expect(issue).toMatchObject({
      path: 'nam',
      code: 'unknown',
      detail: expect.stringMatching(/"nam" \(did you mean "name"\?\), expected name$/),
    });
  });

  it('finds a required member behind too many others', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'integer' } },
      required: ['a'],
      additionalProperties: true,
      maxProperties: 5,
    };
    expect(mistakesOf(schema, { ...(MEMBERS as object), a: 1 })).toEqual(['tooMany ']);
  });

  it('validates no part that is only described', () => {
    expect(mistakesOf({ type: 'array', maxItems: 2, items: { ...NUMBERS, 'x-described': true } }, [TEXTS])).toEqual([]);
  });
});

describe('prepareValidators', () => {
  it('compiles each schema in a turn of its own, and not again when a value is validated', async () => {
    let turn = 0;
    const read: number[] = [];
    // A validation of a value does not read this keyword.
    const schemas = Array.from({ length: 3 }, () => ({
      get minProperties() {
        read.push(turn);
        return 1;
      },
    }));
    const count = (): void => {
      turn++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    await prepareValidators(schemas);
    clearImmediate(counting);
    const turns = [...read];
    expect(new Set(turns).size).toBe(3);
    expect(schemas.map((schema) => validateSchema(schema, {}).map(({ code }) => code))).toEqual([['tooFew'], ['tooFew'], ['tooFew']]);
    expect(read).toEqual(turns);
  });
});
