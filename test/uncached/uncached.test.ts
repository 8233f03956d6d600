/** Checks that the project "uncached" really runs without caches. */
import { LRUCache } from 'lru-cache';
import { expect, it } from 'vitest';
import { memoize } from '../../src/memoize.ts';

it('no value is cached in the project "uncached"', () => {
  const memo = new Map<string, number>();
  let made = 0;
  for (const expected of [1, 2]) expect(memoize(memo, 'key', () => ++made)).toBe(expected);
  expect(memo.size).toBe(0);
  expect(new LRUCache<string, number>({ max: 10 }).set('key', 1).get('key')).toBeUndefined();
});
