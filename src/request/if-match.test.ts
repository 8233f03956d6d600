import { describe, expect, it } from 'vitest';
import { parseIfMatch } from './record-requests.ts';

describe('readIfMatch', () => {
  it.each([
    [undefined, undefined],
    ['*', '*'],
    ['"3"', [3]],
    ['W/"3"', [3]],
    ['"3", "14",W/"15"', [3, 14, 15]],
  ])('reads %s', (header, expected) => {
    expect(parseIfMatch(header)).toEqual(expected);
  });

  it.each(['', '3', '"x"', '""', '"0"', '"-1"', '"1e3"', '"3",', '"3" "4"', '*, "3"', 'w/"3"', '"9999999999999999"', '"1",'.repeat(30)])(
    'refuses %s',
    (header) => {
      expect(() => parseIfMatch(header)).toThrow('expected If-Match');
    },
  );
});
