import { describe, expect, it } from 'vitest';
import { isReturnPath } from './return-path.ts';

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
