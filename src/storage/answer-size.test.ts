import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { anyCharacter } from '../../test/any-character.ts';
import { casesOf } from '../../test/budget.ts';
import type { Json } from '../operators/index.ts';
import { createAnswerSize } from './answer-size.ts';

const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.constantFrom('\u0001'.repeat(30), '"'.repeat(30), 'é'.repeat(30)),
);
const part = fc.oneof(
  text,
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.record({ id: text, tags: fc.array(text, { maxLength: 3 }), extra: fc.dictionary(text, fc.constantFrom(null, true, 1e300)) }),
) as fc.Arbitrary<Json>;

describe('the size of an answer', () => {
  it('accepts parts exactly as long as their JSON fits', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.integer({ min: 10, max: 900 }), (parts, limit) => {
        const size = createAnswerSize(limit);
        const accepted = parts.filter((each) => size.add(each));
        const bytesOf = (each: readonly Json[]): number =>
          each.reduce<number>((sum, one) => sum + Buffer.byteLength(JSON.stringify(one)) + 1, 0);
        // Only the first part may be larger than the limit.
        if (accepted.length > 1) expect(bytesOf(accepted)).toBeLessThanOrEqual(limit);
        const [first, ...others] = parts;
        let sum = first === undefined ? 0 : bytesOf([first]);
        const expected = first === undefined ? [] : [first];
        for (const other of others) {
          if (sum + bytesOf([other]) > limit) continue;
          sum += bytesOf([other]);
          expected.push(other);
        }
        expect(accepted).toEqual(expected);
        expect(size.left).toBe(Math.max(0, limit - sum));
      }),
      { numRuns: casesOf(200) },
    );
  });

  it('measures at most two parts whenever one is added', () => {
    const size = createAnswerSize(100_000);
    const stringify = vi.spyOn(JSON, 'stringify');
    try {
      const counts = Array.from({ length: 110 }, () => {
        const before = stringify.mock.calls.length;
        size.add('x'.repeat(1000));
        return stringify.mock.calls.length - before;
      });
      expect([Math.max(...counts), counts[0], size.left < 1003]).toEqual([2, 0, true]);
    } finally {
      stringify.mockRestore();
    }
  });

  it('a page counts on top of the answer so far, and adds nothing to it', () => {
    const size = createAnswerSize(30);
    expect(size.page().add('x'.repeat(100), 0)).toBe(true);
    size.share(10);
    size.add('a');
    const page = size.page();
    expect([page.add('12345', 4), page.add('12345', 4), size.left]).toEqual([true, false, 16]);
  });
});
