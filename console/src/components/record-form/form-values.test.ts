import { describe, expect, it } from 'vitest';
import { createField } from './field.fixture.ts';
import { changedValues, createdValues, editableFields, parseFormValue, toFormValue, toFormValues, toTypedValue } from './form-values.ts';

describe('parseFormValue', () => {
  it.each([
    ['string', 'a', 'a'],
    ['integer', '12', 12],
    ['number', '-1.5', -1.5],
    ['decimal', '12.30', '12.30'],
    ['boolean', true, true],
    ['json', '{"a":[1]}', { a: [1] }],
    ['date', '2026-01-31', '2026-01-31'],
  ] as const)('returns the value of a %s, which the form shows again', (type, given, value) => {
    expect(parseFormValue(createField({ type }), given)).toEqual({ value });
    expect(parseFormValue(createField({ type }), toFormValue(createField({ type }), value))).toEqual({ value });
  });

  it('returns null for an empty text', () => {
    expect(parseFormValue(createField({ type: 'integer' }), '')).toEqual({ value: null });
  });

  it.each([
    ['integer', 'x'],
    ['number', ' '],
    ['json', '{'],
    ['json', '{"a":1,"a":2}'],
  ])('names the mistake of a %s', (type, given) => {
    expect(parseFormValue(createField({ type }), given)).toHaveProperty('mistake');
  });

  it('keeps the items of a list of texts', () => {
    const list = createField({ type: 'list', of: { type: 'string' } });
    expect(parseFormValue(list, toFormValue(list, ['a', 'b']))).toEqual({ value: ['a', 'b'] });
  });
});

describe('changedValues', () => {
  const fields = [createField({ name: 'title' }), createField({ name: 'size', type: 'integer' })];

  it('has only the fields that were changed', () => {
    expect(changedValues(fields, { title: 'a', size: '1' }, { title: 'a', size: '2' })).toEqual({ values: { size: 2 }, mistakes: {} });
  });

  it('clears a field that was emptied', () => {
    expect(changedValues(fields, { title: 'a' }, { title: '' }).values).toEqual({ title: null });
  });

  it('has the mistakes by field', () => {
    expect(changedValues(fields, {}, { size: 'x' }).mistakes).toHaveProperty('size');
  });
});

describe('createdValues', () => {
  const fields = [createField({ name: 'title' }), createField({ name: 'state', type: 'enum', default: 'b' })];
  const defaults = toFormValues(fields, undefined);

  it('has the given values and the default values that the form shows', () => {
    expect(createdValues(fields, defaults, { title: 'a', state: 'b' }).values).toEqual({ title: 'a', state: 'b' });
  });

  it('has no value in place of a default value that was cleared, and leaves out other fields without a value', () => {
    expect(createdValues(fields, defaults, { title: null, state: null }).values).toEqual({ state: null });
  });

  it('has the mistakes by field', () => {
    expect(createdValues([createField({ name: 'size', type: 'integer' })], {}, { size: 'x' }).mistakes).toHaveProperty('size');
  });
});

describe('toFormValues', () => {
  it.each([
    [{ required: true }, false],
    [{ required: true, default: true }, true],
    [{}, null],
    [{ default: false }, false],
  ])('a boolean of a new record with %j begins with %j', (parts, value) => {
    expect(toFormValues([createField({ type: 'boolean', ...parts })], undefined)).toEqual({ f: value });
  });

  it('a boolean of a stored record without a value has none', () => {
    expect(toFormValues([createField({ type: 'boolean', required: true })], { id: '1' })).toEqual({ f: null });
  });
});

it.each([
  [createField({ type: 'password' }), null],
  [createField({ writeOnly: true }), null],
  [createField(), ''],
])('an emptied field of %j has the value %j, and null of a secret field changes nothing', (field, value) => {
  expect(toTypedValue(field, '')).toBe(value);
  expect(toTypedValue(field, 'typed')).toBe('typed');
});

describe('editableFields', () => {
  it('leaves out fields of the service, and on update fields that never change', () => {
    const fields = [
      createField({ name: 'id', readOnly: true }),
      createField({ name: 'author', immutable: true }),
      createField({ name: 'title' }),
    ];
    expect(editableFields(fields, true).map(({ name }) => name)).toEqual(['author', 'title']);
    expect(editableFields(fields, false).map(({ name }) => name)).toEqual(['title']);
  });
});
