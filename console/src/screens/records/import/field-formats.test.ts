import { describe, expect, it } from 'vitest';
import { describeField } from './field-formats.ts';

const COMMON = { required: false, readOnly: false };

describe('describeField', () => {
  it.each([
    ['reference', { type: 'reference', to: 'User' }, 'id of a User'],
    ['list of texts', { type: 'list', of: { type: 'string' } }, 'JSON array, such as ["a", "b"]'],
    ['list of numbers', { type: 'list', of: { type: 'integer' } }, 'JSON array, such as [1, 2]'],
    ['enum', { type: 'enum', values: ['sports', 'culture'] }, 'one of sports, culture'],
    ['boolean', { type: 'boolean' }, 'true or false'],
    ['required date', { type: 'date', required: true }, 'date, such as 2026-03-31, required'],
    ['required text', { type: 'string', required: true }, 'required'],
    ['text', { type: 'string' }, undefined],
    ['field that the service sets', { type: 'timestamp', readOnly: true }, undefined],
  ])('says the form of a %s', (_, field, expected) => {
    expect(describeField({ ...COMMON, ...field })).toBe(expected);
  });

  it('a column that is left out needs no form', () => {
    expect(describeField(undefined)).toBeUndefined();
  });
});
