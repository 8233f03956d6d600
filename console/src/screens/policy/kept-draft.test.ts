import { describe, expect, it } from 'vitest';
import { discardKept, KEPT_ITEM, type KeptDraft, keepDraft, readKept } from './kept-draft.ts';

function createStorage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const items = new Map<string, string>();
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => void items.set(name, value),
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
