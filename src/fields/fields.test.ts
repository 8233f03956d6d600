import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import type { Json } from '../operators/index.ts';
import type { Field, FieldType } from './field-type.ts';
import { FIELD_TYPES } from './field-type-table.ts';

const ajv = addFormats.default(new Ajv2020({ strict: false }));

const LONE = '\ud800';

function typeNamed(name: string): FieldType {
  const type = FIELD_TYPES.get(name);
  if (type === undefined) throw new Error(`no type ${name}`);
  return type;
}

function fieldOf(type: string, options: Partial<Field> = {}): Field {
  const flags = { required: false, unique: false, index: false, readOnly: false, writeOnly: false, immutable: false, guarded: false };
  return { ...flags, name: 'field', type, ...options };
}

const item = (type: string, options: Partial<Field> = {}): Partial<Field> => ({ of: fieldOf(type, options) });

/** Options that a type requires. */
const NEEDED: ReadonlyMap<string, Partial<Field>> = new Map([
  ['enum', { values: ['draft', 'published'] }],
  ['list', item('string')],
  ['reference', { to: 'User' }],
]);

describe('every field type', () => {
  it.each([...FIELD_TYPES.values()])('the type $name accepts its own example, and returns the stored value', (type) => {
    const field = fieldOf(type.name, NEEDED.get(type.name));
    expect(type.validateOptions?.(field) ?? []).toEqual([]);
    expect(type.validateValue?.(type.example, field)).toBeUndefined();
    const canonical = type.toCanonical?.(type.example, field) ?? type.example;
    const stored = type.toColumn(canonical, field);
    expect(stored).toBeDefined();
    expect(type.fromColumn(stored, field)).toEqual(canonical);
    expect(type.toCanonical?.(canonical, field) ?? canonical).toEqual(canonical);
  });

  it.each([...FIELD_TYPES.values()])('the type $name widens only to types with the same column', (type) => {
    for (const wider of type.widensTo) expect(typeNamed(wider).column).toBe(type.column);
  });
});

describe('accepted values', () => {
  it.each<[type: string, given: Json, canonical: Json, stored: unknown, options?: Partial<Field>]>([
    ['string', 'Ünïcode 😀', 'Ünïcode 😀', 'Ünïcode 😀'],
    ['string', '', '', ''],
    ['integer', -0, 0, 0],
    ['integer', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ['number', -0, 0, 0],
    ['number', 1e-300, 1e-300, 1e-300],
    ['decimal', '12.3', '12.30', 1230n],
    ['decimal', 12.3, '12.30', 1230n],
    ['decimal', '-0.05', '-0.05', -5n],
    ['decimal', 1234567890123.45, '1234567890123.45', 123456789012345n],
    ['decimal', 999999999999999, '999999999999999', 999999999999999n, { scale: 0 }],
    ['decimal', '-0', '0.00', 0n],
    ['decimal', '12.3000', '12.30', 1230n],
    ['decimal', '9999999999999999.99', '9999999999999999.99', 999999999999999999n],
    ['decimal', '7', '7', 7n, { scale: 0 }],
    ['decimal', '-0.000000000000000001', '-0.000000000000000001', -1n, { scale: 18 }],
    ['boolean', false, false, 0],
    ['date', '2024-02-29', '2024-02-29', '2024-02-29'],
    ['timestamp', '2026-01-31T10:00:00+01:00', '2026-01-31T09:00:00.000Z', '2026-01-31T09:00:00.000Z'],
    ['timestamp', '2026-01-31T09:00:00.1234567Z', '2026-01-31T09:00:00.123Z', '2026-01-31T09:00:00.123Z'],
    ['email', 'Ada.L+news@Example.ORG', 'ada.l+news@example.org', 'ada.l+news@example.org'],
    ['url', 'http://localhost:8080/a?b=c#d', 'http://localhost:8080/a?b=c#d', 'http://localhost:8080/a?b=c#d'],
    ['email', 'a..b@x.de', 'a..b@x.de', 'a..b@x.de'],
    ['timestamp', '2024-01-01T00:00Z', '2024-01-01T00:00:00.000Z', '2024-01-01T00:00:00.000Z'],
    ['url', 'http://x/é', 'http://x/é', 'http://x/é'],
    ['url', 'http://x/%', 'http://x/%', 'http://x/%'],
    ['url', 'http://x/|', 'http://x/|', 'http://x/|'],
    ['uuid', '018F4E6A-1C2B-7D3E-8F40-5A6B7C8D9E0F', '018f4e6a-1c2b-7d3e-8f40-5a6b7c8d9e0f', '018f4e6a-1c2b-7d3e-8f40-5a6b7c8d9e0f'],
    ['list', ['A@b.org'], ['a@b.org'], '["a@b.org"]', item('email')],
    ['list', ['1.5', 2], ['1.50', '2.00'], '["1.50","2.00"]', item('decimal')],
    ['list', [], [], '[]', item('string')],
    ['json', { a: [1, null] }, { a: [1, null] }, '{"a":[1,null]}'],
  ])('the type %s converts %j to %j, which its schema of a response describes', (name, given, canonical, stored, options) => {
    const type = typeNamed(name);
    const field = fieldOf(name, options);
    expect(type.validateValue?.(given, field)).toBeUndefined();
    const written = type.toCanonical?.(given, field) ?? given;
    expect(written).toEqual(canonical);
    expect(type.toColumn(written, field)).toEqual(stored);
    expect(type.fromColumn(stored, field)).toEqual(canonical);
    expect(ajv.validate(type.responseSchema?.(field) ?? type.jsonSchema(field), canonical), ajv.errorsText()).toBe(true);
  });

  it('converts booleans and decimals from the forms of both drivers', () => {
    for (const stored of [1, 1n, true]) expect(typeNamed('boolean').fromColumn(stored, fieldOf('boolean'))).toBe(true);
    for (const stored of [1230, 1230n, '1230']) expect(typeNamed('decimal').fromColumn(stored, fieldOf('decimal'))).toBe('12.30');
  });
});

describe('rejected values', () => {
  it.each<[type: string, given: Json, options?: Partial<Field>]>([
    ['string', 'a\u0000b'],
    ['string', LONE],
    ['text', `x${LONE}y`],
    ['password', 'longenough\u0000'],
    ['decimal', '1.234'],
    ['decimal', '10000000000000000.00'],
    ['decimal', 'twelve'],
    ['decimal', '1e3'],
    ['decimal', ''],
    ['decimal', 0.1 + 0.2],
    ['decimal', '-0.01', { min: '0.00' }],
    ['decimal', '10.01', { max: 10 }],
    ['decimal', Number('1234567890123456.78')],
    ['decimal', Number('1000000000000000.01')],
    ['decimal', Number('900000000000000.01')],
    ['decimal', Number('123456789012345.004')],
    ['decimal', 0.000_012_345_678_901_234_5, { scale: 18 }],
    ['decimal', 1234567890123.45, { scale: 3 }],
    ['decimal', Number('123456789012345678'), { scale: 0 }],
    ['list', [Number('1234567890123456.78')], item('decimal')],
    ['date', '2026-02-30'],
    ['date', '2026-1-1'],
    ['date', '2026-01-31T00:00:00Z'],
    ['date', '2025-12-31', { min: '2026-01-01' }],
    ['timestamp', '2026-01-31T09:00:00'],
    ['timestamp', '2026-01-31'],
    ['timestamp', '2026-02-30T00:00:00Z'],
    ['timestamp', '9999-12-31T23:00:00-05:00'],
    ['timestamp', '2026-01-02T00:30:00Z', { max: '2026-01-02T00:00:00Z' }],
    ['email', 'ada'],
    ['email', 'ada@localhost'],
    ['email', 'ada@exa mple.org'],
    ['email', 'ada@example.org\n'],
    ['email', `${'a'.repeat(65)}@example.org`],
    ['url', 'javascript:alert(1)'],
    ['url', 'https://'],
    ['url', 'https://exa\tmple.org'],
    ['url', '//example.org'],
    ['url', 'http://example.org:99999'],
    ['uuid', 'urn:uuid:018f4e6a-1c2b-7d3e-8f40-5a6b7c8d9e0f'],
    ['reference', 'not-an-id'],
    ['list', ['2026-01-01', '2026-13-01'], item('date')],
    ['json', { a: Number.POSITIVE_INFINITY }],
    ['json', { a: ['\u0000'] }],
    ['json', { '\ud800': 1 }],
  ])('the type %s refuses %j', (name, given, options) => {
    const type = typeNamed(name);
    expect(type.validateValue?.(given, fieldOf(name, { ...NEEDED.get(name), ...options }))).toMatch(/expected/);
  });

  it('the type json rejects a text of more than 100,000 characters', () => {
    expect(typeNamed('json').validateValue?.('x'.repeat(100_001), fieldOf('json'))).toMatch(/expected/);
    expect(typeNamed('json').validateValue?.('x'.repeat(99_000), fieldOf('json'))).toBeUndefined();
  });

  it('the type json rejects a value that is too deep without overflowing the stack', () => {
    let deep: Json = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(typeNamed('json').validateValue?.(deep, fieldOf('json'))).toMatch(/32 levels/);
  });

  it.each<[type: string, value: Json]>([
    ['string', 1],
    ['integer', 1.5],
    ['number', '1'],
    ['boolean', 1],
    ['decimal', true],
    ['date', 'tomorrow'],
    ['timestamp', 'now'],
    ['list', 'a'],
  ])('the type %s has no column form for %j', (name, value) => {
    expect(typeNamed(name).toColumn(value, fieldOf(name, NEEDED.get(name)))).toBeUndefined();
  });
});

describe('invalid options', () => {
  it.each<[type: string, options: Partial<Field>, option: string]>([
    ['string', { maxLength: 10_001 }, 'maxLength'],
    ['string', { minLength: 5, maxLength: 4 }, 'minLength'],
    ['string', { minLength: 1001 }, 'minLength'],
    ['string', { pattern: '(' }, 'pattern'],
    ['string', { pattern: '(?=lookahead)' }, 'pattern'],
    ['text', { maxLength: 1_000_001 }, 'maxLength'],
    ['integer', { min: 1.5 }, 'min'],
    ['integer', { max: '9' }, 'max'],
    ['integer', { min: 2, max: 1 }, 'min'],
    ['number', { min: '1' }, 'min'],
    ['decimal', { min: '1.234' }, 'min'],
    ['decimal', { min: '2', max: '1.99' }, 'min'],
    ['decimal', { scale: 19 }, 'scale'],
    ['date', { min: '2026-02-30' }, 'min'],
    ['date', { max: 20260101 }, 'max'],
    ['timestamp', { min: '2026-01-01T00:00:00+02:00', max: '2025-12-31T21:59:59Z' }, 'min'],
    ['enum', { values: [] }, 'values'],
    ['enum', { values: ['a', 'b', 'a'] }, 'values'],
    ['enum', { values: [''] }, 'values'],
    ['reference', {}, 'to'],
    ['reference', { to: 'User', onDelete: 'setNull', required: true }, 'onDelete'],
    ['password', { minLength: 4 }, 'minLength'],
    ['password', { default: 'hunter22' }, 'default'],
    ['list', {}, 'of'],
    ['list', item('list', item('string')), 'of'],
    ['list', item('password'), 'of'],
    ['list', { ...item('string'), maxLength: 10_001 }, 'maxLength'],
    ['list', { ...item('reference', { to: 'User', onDelete: 'setNull' }), minLength: 1 }, 'of'],
  ])('the type %s refuses the options %j', (name, options, option) => {
    expect(
      typeNamed(name)
        .validateOptions?.(fieldOf(name, options))
        .map((mistake) => mistake.option),
    ).toContain(option);
  });
});
