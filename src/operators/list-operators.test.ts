import { describe, expect, it } from 'vitest';
import { isEqual } from './equality.ts';
import { createItemLookup } from './list-operators.ts';
import { anyTruth, type Json, type Kind } from './value.ts';

const VALUES: readonly Json[] = [
  ...[null, true, false, 0, -0, 1, 12.3, Number.NaN, [], {}, ['a']],
  ...['', 'a', 'A', '1', 'true', '\ud800', '\ufffd', '12.3', '12.30', '2026-01-31', '2026-01-31T12:00:00Z', '2026-01-31T13:00:00+01:00'],
];
const KINDS: readonly (Kind | undefined)[] = [undefined, 'json', 'text', 'number', 'decimal', 'boolean', 'date', 'timestamp', 'list'];

describe('createItemLookup', () => {
  for (const kind of KINDS) {
    it(`compares like isEqual with each item of kind ${kind}`, () => {
      const lists = [[], ...VALUES.flatMap((a) => VALUES.map((b) => [a, b])), VALUES, VALUES.filter((value) => typeof value === 'string')];
      for (const items of lists) {
        const isAmong = createItemLookup(items, kind);
        for (const value of VALUES) {
          const truth = anyTruth(items, (item) => isEqual(item, value, kind));
          if (isAmong(value) !== truth) expect([items, value, isAmong(value)]).toEqual([items, value, truth]);
        }
      }
    });
  }

  it('finds many values in linear time', () => {
    const items = Array.from({ length: 100_000 }, (_, index) => `item ${index}`);
    const isAmong = createItemLookup(items, 'text');
    expect(items.every((item) => isAmong(item) === true)).toBe(true);
  });
});
