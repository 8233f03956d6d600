import { describe, expect, it } from 'vitest';
import type { TabStorage } from '../../api/tab-storage.ts';
import { createField } from './field.fixture.ts';
import { discardValues, KEPT_VALUES_ITEM, type KeptValues, keepValues, keptParts, readKeptValues } from './kept-values.ts';

function createStorage(): TabStorage & { readonly items: Map<string, string> } {
  const items = new Map<string, string>();
  return {
    items,
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => void items.set(name, value),
    removeItem: (name) => void items.delete(name),
  };
}

const FORM = { userId: 'ann', resource: 'Article', id: 'a' };
const KEPT: KeptValues = { ...FORM, version: 3, before: { title: 'Old' }, values: { title: 'New' }, isPartial: false };

describe('the unsaved values that a tab keeps', () => {
  it('are returned to their form until they are discarded', () => {
    const storage = createStorage();
    expect(readKeptValues(FORM, storage)).toBeUndefined();
    expect(keepValues(KEPT, storage)).toBe(true);
    expect(readKeptValues(FORM, storage)).toEqual(KEPT);
    expect(keepValues({ ...KEPT, values: { title: 'Newer' } }, storage)).toBe(true);
    expect(readKeptValues(FORM, storage)?.values).toEqual({ title: 'Newer' });
    discardValues(FORM, storage);
    expect(storage.items.size).toBe(0);
  });

  it('are those of each form, the newest five', () => {
    const storage = createStorage();
    const forms = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ ...KEPT, id }));
    for (const form of forms) keepValues(form, storage);
    const found = forms.filter((form) => readKeptValues(form, storage) !== undefined);
    expect(found.map(({ id }) => id)).toEqual(['b', 'c', 'd', 'e', 'f']);
    discardValues({ ...FORM, id: 'c' }, storage);
    expect(readKeptValues({ ...FORM, id: 'c' }, storage)).toBeUndefined();
    expect(readKeptValues({ ...FORM, id: 'd' }, storage)).toBeDefined();
  });

  it('of other forms stay if those of a form are too large to be kept', () => {
    const storage = createStorage();
    const other = { ...KEPT, id: 'b' };
    keepValues(KEPT, storage);
    keepValues(other, storage);
    expect(keepValues({ ...KEPT, values: { title: 'x'.repeat(1_000_000) } }, storage)).toBe(false);
    expect(readKeptValues(FORM, storage)).toBeUndefined();
    expect(readKeptValues(other, storage)).toEqual(other);
  });

  it('of a new record have no id', () => {
    const storage = createStorage();
    const created = { ...KEPT, id: undefined, version: undefined };
    keepValues(created, storage);
    expect(readKeptValues(created, storage)?.values).toEqual(KEPT.values);
    expect(readKeptValues(FORM, storage)).toBeUndefined();
  });

  it.each([{ userId: 'ben' }, { resource: 'Comment' }, { id: 'b' }, { id: undefined }])('are not returned to another form: %j', (other) => {
    const storage = createStorage();
    keepValues(KEPT, storage);
    expect(readKeptValues({ ...FORM, ...other }, storage)).toBeUndefined();
  });

  it('of another user are removed when a user types', () => {
    const storage = createStorage();
    keepValues(KEPT, storage);
    keepValues({ ...KEPT, userId: 'ben' }, storage);
    expect(storage.items.get(KEPT_VALUES_ITEM)).not.toContain('ann');
  });

  it('are not kept if they are too large, and the oldest ones make room', () => {
    const storage = createStorage();
    keepValues(KEPT, storage);
    const large = { ...KEPT, id: 'b' };
    expect(keepValues({ ...large, values: { title: 'x'.repeat(1_000_000) } }, storage)).toBe(false);
    expect(readKeptValues(large, storage)).toBeUndefined();
    expect(keepValues({ ...large, values: { title: 'x'.repeat(999_800) } }, storage)).toBe(true);
    expect(readKeptValues(large, storage)).toBeDefined();
    expect(readKeptValues(FORM, storage)).toBeUndefined();
  });

  it('are reported as not kept if the storage is full', () => {
    const storage = createStorage();
    storage.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
    expect(keepValues(KEPT, storage)).toBe(false);
  });

  it.each(['{', '{}', 'null', '[7]', '[{"userId":"ann","resource":"Article","id":"a","before":{},"values":{}}]'])(
    'are none for the item %s',
    (text) => {
      const storage = createStorage();
      storage.setItem(KEPT_VALUES_ITEM, text);
      expect(readKeptValues(FORM, storage)).toBeUndefined();
    },
  );

  it('are none if a value is not one of a form', () => {
    const storage = createStorage();
    storage.setItem(KEPT_VALUES_ITEM, JSON.stringify([{ ...KEPT, values: { title: { html: '<b>' } } }]));
    expect(readKeptValues(FORM, storage)).toBeUndefined();
  });
});

describe('the values of a form that can be kept', () => {
  const fields = [
    createField({ name: 'title' }),
    createField({ name: 'tags', type: 'list' }),
    createField({ name: 'password', type: 'password', writeOnly: true }),
    createField({ name: 'token', writeOnly: true }),
  ];
  const before = { title: 'Old', tags: ['a'], password: null, token: null };

  it('are the changed ones', () => {
    const values = { ...before, tags: ['a', 'b'] };
    expect(keptParts(fields, { before, values })).toEqual({ before: { tags: ['a'] }, values: { tags: ['a', 'b'] }, isPartial: false });
  });

  it('never contain secret values', () => {
    const values = { ...before, title: 'New', password: 'correct horse', token: 'abc' };
    expect(keptParts(fields, { before, values })).toEqual({ before: { title: 'Old' }, values: { title: 'New' }, isPartial: true });
  });
});
