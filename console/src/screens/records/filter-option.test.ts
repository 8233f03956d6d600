import { describe, expect, it } from 'vitest';
import { createField } from '../../components/record-form/field.fixture.ts';
import { comparedRecord, isComplete, printOperand, toFilterOption } from './filter-option.ts';

const type = (name: string, kind: 'text' | 'number' | 'list') => ({ name, kind, form: '', label: '', summary: '' });
const catalogue = { fieldTypes: [type('enum', 'text'), type('integer', 'number'), type('list', 'list'), type('uuid', 'text')] };

describe('a field of a filter', () => {
  it('has the kind of its type, and its possible values', () => {
    const field = createField({ name: 'status', type: 'enum', values: ['draft', 'published'] });
    expect(toFilterOption(catalogue, field)).toEqual({ path: 'status', kind: 'text', values: ['draft', 'published'] });
  });

  it('has the kind of the items of its list', () => {
    const field = createField({ name: 'sizes', type: 'list', of: { type: 'integer' } });
    expect(toFilterOption(catalogue, field)).toEqual({ path: 'sizes', kind: 'list', itemKind: 'number' });
  });

  it('leads to the records that it refers to; the author of a record is a user', () => {
    expect(toFilterOption(catalogue, createField({ name: 'deskId', type: 'uuid', to: 'Desk' }))).toHaveProperty('to', 'Desk');
    expect(toFilterOption(catalogue, createField({ name: 'createdBy', type: 'uuid', readOnly: true }))).toHaveProperty('to', 'User');
    expect(toFilterOption(catalogue, createField({ name: 'createdBy', type: 'uuid' }))).not.toHaveProperty('to');
  });
});

describe('an operand', () => {
  it.each(['', null, undefined, [], ['', ''], ['2026-01-01', '']])('without a value is not complete: %j', (value) => {
    expect(isComplete(value)).toBe(false);
  });

  it.each(['a', 0, false, ['a'], [0, 0]])('with its values is complete: %j', (value) => expect(isComplete(value)).toBe(true));

  it('is shown without the form of JSON where that says the same', () => {
    expect(['a b', 3, true, ['a', 'b'], { x: 1 }].map(printOperand)).toEqual(['a b', '3', 'true', 'a, b', '{"x":1}']);
  });
});

describe('a comparison', () => {
  const fields = [createField({ name: 'deskId', to: 'Desk' }), createField({ name: 'title' })];

  it('names a record if its value is one id', () => {
    expect(comparedRecord(fields, { field: 'deskId', operator: 'eq', value: 'd' })).toEqual({ resource: 'Desk', id: 'd' });
  });

  it.each([
    { field: 'title', operator: 'eq', value: 'd' },
    { field: 'deskId', operator: 'in', value: ['d', 'e'] },
    { field: 'deskId', operator: 'startsWith', value: 'd' },
    { field: 'unknown', operator: 'eq', value: 'd' },
  ])('names none otherwise: %j', (comparison) => expect(comparedRecord(fields, comparison)).toBeUndefined());
});
