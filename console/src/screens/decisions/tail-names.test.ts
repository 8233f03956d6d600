import { describe, expect, it } from 'vitest';
import { type Entry, NO_NAMES } from './queries.ts';
import { createTailNames } from './tail-names.ts';

const entry = (id: string, ids: Partial<Entry>) => ({ id, ...ids }) as Entry;
const NEWEST = entry('e3', { userId: 'u2', policyId: 'p1' });
const ENTRIES = [NEWEST, entry('e2', { userId: 'u1' }), entry('e1', {})];

describe('createTailNames', () => {
  it('finds the earliest entry with an id without a name', () => {
    const tail = createTailNames();
    expect(tail.firstUnnamed(ENTRIES, NO_NAMES)?.id).toBe('e2');
    expect(tail.firstUnnamed(ENTRIES, { ...NO_NAMES, users: { u1: 'Maya' } })?.id).toBe('e3');
    expect(tail.firstUnnamed([], NO_NAMES)).toBeUndefined();
  });

  it('adds loaded names, and looks up an id once, also if it has no name', () => {
    const tail = createTailNames();
    const page = { data: [NEWEST], names: { ...NO_NAMES, users: { u2: 'Tom' } } };
    expect(tail.add(page).users).toEqual({ u2: 'Tom' });
    expect(tail.firstUnnamed([NEWEST], NO_NAMES)).toBeUndefined();
    expect(tail.add(undefined).users).toEqual({ u2: 'Tom' });
  });
});
