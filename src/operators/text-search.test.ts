import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { includesPart, matchesWildcards } from './text-search.ts';

/** Few characters, so that parts repeat and many patterns nearly match. `😀` has two code units. */
const character = fc.constantFrom('a', 'b', '😀');
const text = fc.oneof(fc.string({ unit: character, maxLength: 12 }), fc.string({ unit: character, minLength: 30, maxLength: 150 }));
const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '😀', '?', '*'), maxLength: 120 });

/** Tries every length of text for each star. */
function matchesSlowly(given: readonly string[], wanted: readonly string[]): boolean {
  // matches[at] is true if the first `at` characters match the part of the pattern so far.
  let matches = Array.from({ length: given.length + 1 }, (_, at) => at === 0);
  for (const each of wanted) {
    matches = matches.map((_, at) =>
      each === '*'
        ? matches.slice(0, at + 1).includes(true)
        : at > 0 && matches[at - 1] === true && (each === '?' || each === given[at - 1]),
    );
  }
  return matches.at(-1) === true;
}

describe('matchesWildcards', () => {
  it.each([
    ['abc', 'a*c', true],
    ['abc', 'a?c', true],
    ['abc', '*', true],
    ['abc', '**', true],
    ['', '', true],
    ['', '*', true],
    ['', '?', false],
    ['a', '', false],
    ['abcbc', 'a*bc', true],
    ['abcbd', 'a*bc', false],
    ['aba', 'ab*ba', false],
    ['abba', 'ab*ba', true],
    ['😀', '?', true],
    ['😀', '??', false],
    ['x😀y', '*?y', true],
    ['😀', '*?', true],
    ['ABC', 'a*', false],
    [`${'a'.repeat(40)}b`, `*${'?'.repeat(40)}b`, true],
    ['a'.repeat(41), `*${'?'.repeat(40)}b*`, false],
  ])('%j matches %j: %s', (given, wanted, expected) => {
    expect(matchesWildcards(given, wanted)).toBe(expected);
  });

  it('returns the same as a search of every length', () => {
    let matched = 0;
    fc.assert(
      fc.property(text, pattern, (given, wanted) => {
        const expected = matchesSlowly(Array.from(given), Array.from(wanted));
        if (expected) matched++;
        expect(matchesWildcards(given, wanted)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
    expect(matched).toBeGreaterThan(100);
  });

  it('finds a part of each length at each position', () => {
    const given = `${'ab😀'.repeat(30)}c${'b😀a'.repeat(30)}`;
    const characters = Array.from(given);
    for (const length of [1, 31, 32, 33, 63, 64, 65, 96]) {
      for (let at = 0; at + length <= characters.length; at++) {
        const part = characters.slice(at, at + length);
        expect(includesPart(given, part.join(''))).toBe(true);
        expect(matchesWildcards(given, `*${part.with(length >> 1, '?').join('')}*`)).toBe(true);
        expect(includesPart(given, part.with(length >> 1, 'x').join(''))).toBe(false);
      }
    }
  });
});

describe('includesPart', () => {
  it('returns the same as String.includes', () => {
    fc.assert(fc.property(text, text, (given, part) => void expect(includesPart(given, part)).toBe(given.includes(part))));
    fc.assert(
      fc.property(text, text, text, (before, part, after) => {
        expect(includesPart(before + part + after, part)).toBe(true);
        expect(includesPart(before + after, `${part}?`)).toBe(false);
      }),
    );
  });
});
