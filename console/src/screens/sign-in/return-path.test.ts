import { describe, expect, it } from 'vitest';
import { isReturnPath, returnAddress } from './return-path.ts';

describe('isReturnPath', () => {
  it.each(['/', '/account?x=1', '/data/Article#part', '/a//b'])('accepts %s, an address inside the console', (back) => {
    expect(isReturnPath(back)).toBe(true);
  });

  it.each(['https://attacker.example/', '//attacker.example/', '/\\attacker.example/', 'javascript:alert(1)', '', ' //x', 7, undefined])(
    'refuses %j',
    (back) => {
      expect(isReturnPath(back)).toBe(false);
    },
  );
});

describe('returnAddress', () => {
  it.each([
    ['the user whose session ended', { back: '/preview?x=1#draft=abc', user: 'ada' }, '/preview?x=1#draft=abc'],
    ['another user, without the draft of the former one', { back: '/preview?x=1#draft=abc', user: 'bob' }, '/preview?x=1'],
    ['a user who opened a link', { back: '/preview#draft=abc' }, '/preview#draft=abc'],
    ['a user who opened the sign-in screen', {}, '/'],
  ])('opens an address for %s', (_, search, expected) => {
    expect(returnAddress(search, 'ada')).toBe(expected);
  });
});
