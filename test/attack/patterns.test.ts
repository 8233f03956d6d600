/**
 * Analyses all regular expressions of the sources: the number of steps of a match must not grow faster than the text. The analysis finds
 * exponential and polynomial backtracking, and searches that begin again at each character. Nothing is timed: `test/long/linear-time.test.ts` is.
 */
import { check, type Parameters } from 'recheck';
import { describe, expect, it } from 'vitest';
import { collectPatterns } from './source-patterns.ts';

/** Without time limits, so that a busy machine gets the same result. The seed of the random texts is fixed. */
const WITHOUT_TIME_LIMIT: Parameters = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
  recallTimeout: -1,
  randomSeed: 1,
};

describe('patterns', () => {
  const { patterns, built } = collectPatterns();

  it('all patterns are written as literals, so that this test finds them', () => {
    expect(built).toEqual([]);
    expect(patterns.length).toBeGreaterThan(80);
  });

  it.each(patterns.map(({ source, flags, file }) => [`/${source}/${flags}`, file, source, flags] as const))(
    'the steps of the pattern %s of %s grow no faster than the text',
    async (_name, _file, source, flags) => {
      expect(await findSlowText(source, flags)).toBeUndefined();
    },
  );

  it.each(['\\s+$', '\\$\\{([^}]*)\\}', '^(a|a)*$', ';\\s*q\\s*=\\s*\\s*;', '^(a{1,30}){1,30}$', '(?=a*a*b)c'])(
    'detects a pattern with backtracking: /%s/',
    async (source) => {
      expect(await findSlowText(source, '')).toMatch(/polynomial|exponential/);
    },
  );

  it('detects a pattern that cannot be analysed', async () => {
    await expect(findSlowText('[[a-z]--[aeiou]]', 'v')).rejects.toThrow('cannot be analysed');
  });
});

/** Returns the text that takes the most steps, and how they grow with its length; undefined if they grow no faster than the text. */
async function findSlowText(source: string, flags: string): Promise<string | undefined> {
  const found = await check(source, flags, WITHOUT_TIME_LIMIT);
  if (found.status === 'unknown') throw new Error(`/${source}/${flags} cannot be analysed: write it without the flag v`);
  return found.status === 'safe' ? undefined : `${found.complexity.summary}: ${found.attack.pattern}`;
}
