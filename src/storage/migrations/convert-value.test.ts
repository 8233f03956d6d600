import { describe, expect, it } from 'vitest';
import type { Field } from '../../fields/index.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { define, resourceOf } from '../storage.fixture.ts';
import { convertValue } from './convert-value.ts';

function fieldOf(source: JsonObject): Field {
  const field = resourceOf(define({ A: { fields: { value: source } } }), 'A').fields.get('value');
  if (field === undefined) throw new Error('no field');
  return field;
}

/** Either the type's name or the whole field. */
type Said = string | JsonObject;

const toField = (said: Said): Field => fieldOf(typeof said === 'string' ? { type: said } : said);

const enumOf = (...values: string[]): JsonObject => ({ type: 'enum', values });
const listOf = (of: Said): JsonObject => ({ type: 'list', of });
const ID = '018f4e6a-1c2b-7d3e-8f40-5a6b7c8d9e0f';

describe('a value that can be converted', () => {
  it.each<[Said, Said, Json, Json | undefined]>([
    ['string', 'integer', '12', 12],
    ['string', 'integer', '-3.0', -3],
    ['string', 'number', '0.25', 0.25],
    ['string', 'decimal', '12.3', '12.30'],
    ['string', 'boolean', 'true', true],
    ['string', 'date', '2026-01-31', '2026-01-31'],
    ['string', 'timestamp', '2026-01-31T01:00:00+01:00', '2026-01-31T00:00:00.000Z'],
    ['string', 'timestamp', '2026-01-31T09:00:00.123000Z', '2026-01-31T09:00:00.123Z'],
    ['string', enumOf('a', 'b'), 'a', 'a'],
    ['string', 'email', 'Ada@Example.org', 'ada@example.org'],
    ['string', 'uuid', ID.toUpperCase(), ID],
    ['string', 'json', '{"a":1}', '{"a":1}'],
    [listOf('string'), 'json', ['a'], ['a']],
    ['string', listOf('string'), 'a', ['a']],
    ['string', listOf('integer'), '1', [1]],
    ['integer', 'string', 12, '12'],
    ['integer', 'number', 12, 12],
    ['integer', 'decimal', 12, '12.00'],
    ['integer', { type: 'decimal', scale: 0 }, 9_007_199_254_740_991, '9007199254740991'],
    ['integer', 'boolean', 1, true],
    ['number', 'integer', 12, 12],
    ['number', 'string', 0.5, '0.5'],
    ['boolean', 'string', false, 'false'],
    ['boolean', 'integer', true, 1],
    ['decimal', 'integer', '12.00', 12],
    ['decimal', 'number', '0.10', 0.1],
    ['decimal', { type: 'decimal', scale: 1 }, '12.30', '12.3'],
    ['decimal', { type: 'decimal', scale: 0 }, '100.00', '100'],
    ['decimal', { type: 'decimal', scale: 4 }, '12.30', '12.3000'],
    ['date', 'timestamp', '2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['timestamp', 'date', '2026-01-31T00:00:00.000Z', '2026-01-31'],
    [listOf('string'), 'string', ['a'], 'a'],
    [listOf('string'), 'integer', ['7'], 7],
    [listOf('string'), 'string', [], undefined],
    [listOf('string'), listOf('integer'), ['1', '2'], [1, 2]],
    ['json', 'string', 'plain', 'plain'],
    ['json', 'text', { a: [1] }, '{"a":[1]}'],
    ['json', listOf('integer'), [1, 2], [1, 2]],
    ['json', 'integer', 3, 3],
    ['text', 'string', 'short', 'short'],
  ])('converts from %j to %j: %j', (before, after, value, expected) => {
    expect(convertValue(value, toField(before), toField(after))).toEqual(
      expected === undefined ? { fits: true } : { fits: true, value: expected },
    );
  });
});

describe('values that cannot be converted', () => {
  it.each<[Said, Said, Json]>([
    ['string', 'integer', '12.5'],
    ['string', 'integer', ''],
    ['string', 'integer', ' 12'],
    ['string', 'integer', '0x10'],
    ['string', 'integer', '012'],
    ['string', 'decimal', '012'],
    ['string', 'integer', '9007199254740993'],
    ['string', 'number', '0.12345678901234567891'],
    ['string', 'number', 'NaN'],
    ['string', 'decimal', '1.234'],
    ['string', 'boolean', 'yes'],
    ['string', 'date', '2026-02-30'],
    ['string', 'timestamp', '2026-01-31'],
    ['string', 'timestamp', '2026-01-31T09:00:00.123456Z'],
    ['string', 'timestamp', '2026-01-31T10:00:00.000000001+01:00'],
    ['string', enumOf('a', 'b'), 'A'],
    ['string', 'email', 'ada'],
    ['string', listOf('integer'), 'a'],
    ['string', { type: 'string', maxLength: 2, pattern: 'x' }, 'abc'],
    ['number', 'integer', 1.5],
    ['number', 'decimal', 0.30000000000000004],
    ['integer', 'boolean', 2],
    ['decimal', { type: 'decimal', scale: 1 }, '12.34'],
    ['decimal', 'integer', '0.50'],
    ['timestamp', 'date', '2026-01-31T00:00:00.001Z'],
    [listOf('string'), 'string', ['a', 'b']],
    [listOf('string'), listOf('integer'), ['1', 'b']],
    ['json', listOf('integer'), [1, { a: 1 }]],
    ['json', 'integer', { a: 1 }],
    ['text', 'string', 'x'.repeat(1001)],
  ])('does not round, truncate or guess a value from %j to %j: %j', (before, after, value) => {
    expect(convertValue(value, toField(before), toField(after))).toEqual({ fits: false });
  });
});
