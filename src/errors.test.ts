import { describe, expect, it } from 'vitest';
import { didYouMean } from './errors.ts';

const LONG = 'x'.repeat(60);

describe('didYouMean', () => {
  it.each([
    ['one wrong letter', 'stauts', ['title', 'status'], 'status'],
    ['another case', 'STATUS', ['title', 'status'], 'status'],
    ['the nearest of two', 'tile', ['tiled', 'title', 'tilt'], 'tiled'],
    ['two wrong letters in a long name', `${LONG}ab`, [`${LONG}cd`], `${LONG}cd`],
  ])('suggests a known name for %s', (_, given, known, expected) => {
    expect(didYouMean(given, known)).toBe(` (did you mean "${expected}"?)`);
  });

  it.each([
    ['another name', 'status', ['title', 'authorId']],
    ['a name that is much longer than every known one', 'x'.repeat(1000), ['title', 'authorId']],
    ['a name with the beginning of a known one', `status${'s'.repeat(1000)}`, ['status']],
    ['a name whose first 64 characters are a known one', `${'s'.repeat(64)}${'t'.repeat(64)}`, ['s'.repeat(64)]],
  ])('suggests nothing for %s', (_, given, known) => {
    expect(didYouMean(given, known)).toBe('');
  });
});
