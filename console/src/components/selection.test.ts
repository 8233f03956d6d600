import { describe, expect, it } from 'vitest';
import { placeOf, presentItems, rangeTo } from './selection.ts';

interface Item {
  readonly id: string;
  readonly version: number;
}

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => ({ id, version: 2 })) as [Item, Item, Item, Item];
const items = [a, b, c, d];
const selectionOf = (...ids: readonly string[]) => new Map(ids.map((id) => [id, { id, version: 1 }]));
const idsOf = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id);

describe('a selection', () => {
  it('a range reaches from the item that was selected last to this one, in both directions', () => {
    expect(idsOf(rangeTo(d, items, selectionOf('a', 'b')))).toEqual(['b', 'c', 'd']);
    expect(idsOf(rangeTo(b, items, selectionOf('a', 'd')))).toEqual(['b', 'c', 'd']);
  });

  it('a range from an item that the list no longer has is the item alone', () => {
    expect(idsOf(rangeTo(b, items, selectionOf('gone')))).toEqual(['b']);
    expect(idsOf(rangeTo(b, items, selectionOf()))).toEqual(['b']);
  });

  it('has the place of its first item in the list', () => {
    expect(placeOf(selectionOf('d', 'b'), items)).toBe(1);
    expect(placeOf(selectionOf('gone'), items)).toBeUndefined();
  });

  it('has the versions that the list has at present, and those of items that it no longer has', () => {
    expect(presentItems(selectionOf('b', 'gone'), items)).toEqual([
      { id: 'b', version: 2 },
      { id: 'gone', version: 1 },
    ]);
  });
});
