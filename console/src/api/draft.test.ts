import { describe, expect, it } from 'vitest';
import { DRAFT_ITEM, type Draft, discardDraft, policiesOf, readDraft, saveDraft } from './draft.ts';

function createStorage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const items = new Map<string, string>();
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => void items.set(name, value),
    removeItem: (name) => void items.delete(name),
  };
}

describe('the draft of the tab', () => {
  it('returns the saved draft until it is discarded', () => {
    const storage = createStorage();
    const draft: Draft = { policies: [{ id: '0198c0de-0000-7000-8000-000000000001', priority: 7 }], removePolicies: [] };
    expect(readDraft('ada', storage)).toBeUndefined();
    saveDraft('ada', draft, storage);
    expect(readDraft('ada', storage)).toEqual(draft);
    discardDraft(storage);
    expect(readDraft('ada', storage)).toBeUndefined();
  });

  it('is removed if the storage is full, because the former draft is no longer the present one', () => {
    const storage = createStorage();
    saveDraft('ada', {}, storage);
    storage.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
    expect(saveDraft('ada', { policies: [] }, storage)).toBe(false);
    expect(readDraft('ada', storage)).toBeUndefined();
  });

  it('is returned only to the user who saved it', () => {
    const storage = createStorage();
    saveDraft('ada', {}, storage);
    expect(readDraft('bob', storage)).toBeUndefined();
  });

  it.each(['{', '[]', '7', 'null', '{"userId":"ada"}', '{"userId":"ada","draft":[]}', '{"draft":{}}'])(
    'returns no draft for the item %s',
    (text) => {
      const storage = createStorage();
      storage.setItem(DRAFT_ITEM, text);
      expect(readDraft('ada', storage)).toBeUndefined();
    },
  );
});

it.each<[unknown, readonly string[]]>([
  [{}, []],
  [{ policies: [{ id: 'p1', name: 'Desk' }, { id: 'p2' }, { name: '' }, { name: 'Night' }] }, ['Desk', 'Night']],
  [{ policies: [null, { name: 7 }] }, []],
  [{ policies: 'Desk' }, []],
])('the draft %j names the policies %j', (draft, names) => expect(policiesOf(draft as Draft)).toEqual(names));
