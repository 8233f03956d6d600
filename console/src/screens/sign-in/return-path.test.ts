import { describe, expect, it } from 'vitest';
import { returnPath } from './return-path.ts';

describe('returnPath', () => {
  it.each(['/', '/account?x=1', '/data/Article#part', '/a//b'])('accepts %s, an address inside the console', (back) => {
    expect(returnPath(back)).toBe(back);
  });

  it.each(['https://attacker.example/', '//attacker.example/', '/\\attacker.example/', 'javascript:alert(1)', '', ' //x', 7, undefined])(
    'refuses %j',
    (back) => {
      expect(returnPath(back)).toBeUndefined();
    },
  );
});
