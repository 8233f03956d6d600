import { describe, expect, it } from 'vitest';
import { labelField, labelOf, type ResourceDescription } from './record-labels.ts';

type Field = ResourceDescription['fields'][number];

const field = (parts: Partial<Field>): Field => ({
  name: 'title',
  type: 'string',
  guarded: false,
  immutable: false,
  index: false,
  operators: [],
  readOnly: false,
  required: false,
  unique: false,
  writeOnly: false,
  ...parts,
});

describe('labelField', () => {
  it('prefers a usual name', () => {
    expect(labelField({ fields: [field({ name: 'body', required: true }), field({ name: 'name' })] })).toBe('name');
  });

  it('falls back to the first required text', () => {
    const fields = [
      field({ name: 'note' }),
      field({ name: 'size', type: 'integer', required: true }),
      field({ name: 'motto', required: true }),
    ];
    expect(labelField({ fields })).toBe('motto');
  });

  it('uses neither secrets nor references', () => {
    expect(labelField({ fields: [field({ name: 'name', writeOnly: true }), field({ name: 'title', to: 'User' })] })).toBeUndefined();
  });
});

describe('labelOf', () => {
  it('is the id of a record whose naming field is empty or hidden', () => {
    expect([labelOf({ id: 'a', title: 'T' }, 'title'), labelOf({ id: 'a', title: '' }, 'title'), labelOf({ id: 'a' }, undefined)]).toEqual([
      'T',
      'a',
      'a',
    ]);
  });

  it('is the e-mail address of a user without a name', () => {
    expect(labelOf({ id: '7', email: 'a@example.com' }, 'name')).toBe('a@example.com');
    expect(labelOf({ id: '7', name: 'Ada', email: 'a@example.com' }, 'name')).toBe('Ada');
  });
});
