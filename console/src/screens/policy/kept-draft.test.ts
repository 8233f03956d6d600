import { describe, expect, it } from 'vitest';
import { discardKept, KEPT_ITEM, type KeptDraft, keepDraft, readKept } from './kept-draft.ts';

/** Creates a storage that refuses an item with more characters than its size. */
function createStorage(size = Number.POSITIVE_INFINITY): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const items = new Map<string, string>();
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem(name, value) {
      if (value.length > size) throw new DOMException('full', 'QuotaExceededError');
      items.set(name, value);
    },
    removeItem: (name) => void items.delete(name),
  };
}

const KEPT: KeptDraft = { userId: 'ann', policyId: 'p', version: 3, draft: { name: 'Tips' } };

describe('the unsaved changes that a tab keeps', () => {
  it('returns them until they are discarded', () => {
    const storage = createStorage();
    expect(readKept(KEPT, storage)).toBeUndefined();
    keepDraft(KEPT, storage);
    expect(readKept(KEPT, storage)).toEqual(KEPT);
    discardKept(KEPT, storage);
    expect(readKept(KEPT, storage)).toBeUndefined();
  });

  it('keeps those of the last five policies of a user', () => {
    const storage = createStorage();
    for (const policyId of ['a', 'b', 'c', 'd', 'a', 'e', 'f']) keepDraft({ ...KEPT, policyId }, storage);
    const kept = ['a', 'b', 'c', 'd', 'e', 'f', 'p'].filter((policyId) => readKept({ userId: 'ann', policyId }, storage) !== undefined);
    expect(kept).toEqual(['a', 'c', 'd', 'e', 'f']);
    discardKept({ userId: 'ann', policyId: 'c' }, storage);
    expect(readKept({ userId: 'ann', policyId: 'c' }, storage)).toBeUndefined();
    expect(readKept({ userId: 'ann', policyId: 'd' }, storage)).toBeDefined();
  });

  it('makes room for the newest by removing the oldest', () => {
    const storage = createStorage(3_000);
    for (const policyId of ['a', 'b', 'c', 'd'])
      expect(keepDraft({ ...KEPT, policyId, draft: { name: policyId.repeat(1_000) } }, storage)).toBe(true);
    const kept = ['a', 'b', 'c', 'd'].filter((policyId) => readKept({ userId: 'ann', policyId }, storage) !== undefined);
    expect(kept).toEqual(['c', 'd']);
  });

  it('leaves room for other items of the tab', () => {
    const storage = createStorage();
    for (const policyId of ['a', 'b', 'c']) keepDraft({ ...KEPT, policyId, draft: { name: policyId.repeat(900_000) } }, storage);
    expect(['a', 'b', 'c'].map((policyId) => readKept({ userId: 'ann', policyId }, storage) !== undefined)).toEqual([false, true, true]);
  });

  it('says that they are not kept if the storage is full', () => {
    const storage = createStorage(3_000);
    keepDraft({ ...KEPT, policyId: 'q' }, storage);
    expect(keepDraft({ ...KEPT, draft: { name: 'x'.repeat(3_000) } }, storage)).toBe(false);
    expect(readKept({ userId: 'ann', policyId: 'q' }, storage)).toBeDefined();
  });

  it('removes those of another user', () => {
    const storage = createStorage();
    keepDraft({ ...KEPT, userId: 'ben' }, storage);
    keepDraft({ ...KEPT, policyId: 'q' }, storage);
    expect(readKept({ ...KEPT, userId: 'ben' }, storage)).toBeUndefined();
    expect(readKept({ ...KEPT, policyId: 'q' }, storage)).toBeDefined();
  });

  it('returns those of a new policy', () => {
    const storage = createStorage();
    const kept = { ...KEPT, policyId: undefined, version: undefined };
    keepDraft(kept, storage);
    expect(readKept(kept, storage)?.draft).toEqual(KEPT.draft);
    expect(readKept(KEPT, storage)).toBeUndefined();
  });

  it.each([{ userId: 'ben' }, { userId: undefined }, { policyId: 'q' }, { policyId: undefined }])(
    'returns none to another user or policy: %j',
    (other) => {
      const storage = createStorage();
      keepDraft(KEPT, storage);
      expect(readKept({ ...KEPT, ...other }, storage)).toBeUndefined();
    },
  );

  it.each([
    '{',
    '[]',
    'null',
    '7',
    '[{"userId":"ann","policyId":"p","draft":{}}]',
    '[{"userId":"ann","policyId":"p","version":3,"draft":7}]',
  ])('returns none for the item %s', (text) => {
    const storage = createStorage();
    storage.setItem(KEPT_ITEM, text);
    expect(readKept(KEPT, storage)).toBeUndefined();
  });
});
