import { describe, expect, it } from 'vitest';
import { createField } from './field.fixture.ts';
import { mergeValues } from './merge-values.ts';

const fields = ['title', 'fee', 'tags', 'status', 'slug'].map((name) => createField({ name }));
const base = { title: 'Old', fee: '1', tags: ['a'], status: 'draft', slug: 's' };
const mine = { ...base, title: 'Mine', fee: '2', status: 'published' };
const theirs = { ...base, title: 'Theirs', tags: ['a', 'b'], status: 'published' };

describe('a merge of two changes of a record', () => {
  const merge = mergeValues(fields, { base, mine, theirs });
  const names = (list: typeof merge.conflicts) => list.map(({ name }) => name);

  it('asks only for the fields that both have changed to different values', () => {
    expect(names(merge.conflicts)).toEqual(['title']);
    expect(names(merge.mine)).toEqual(['fee', 'status']);
    expect(names(merge.theirs)).toEqual(['tags']);
  });

  it('takes the changes of both, and the chosen value of a conflict', () => {
    const merged = { ...base, fee: '2', tags: ['a', 'b'], status: 'published' };
    expect(merge.resolve(new Map())).toEqual({ ...merged, title: 'Mine' });
    expect(merge.resolve(new Map([['title', 'theirs']]))).toEqual({ ...merged, title: 'Theirs' });
  });

  it('of equal changes has nothing to ask, and is what is stored', () => {
    const same = mergeValues(fields, { base, mine, theirs: mine });
    expect(same.conflicts).toEqual([]);
    expect(same.resolve(new Map())).toEqual(mine);
  });

  it('treats a removed value as a change', () => {
    const removed = mergeValues(fields, { base, mine: { ...base, fee: null }, theirs: { ...base, fee: '9' } });
    expect(names(removed.conflicts)).toEqual(['fee']);
    expect(removed.resolve(new Map())).toMatchObject({ fee: null });
  });
});
