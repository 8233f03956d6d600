import { describe, expect, it } from 'vitest';
import { Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { parseTexts } from './credentials.ts';

const WANTED = { email: { min: 3, max: 10 }, password: { min: 8, max: 12 } };

describe('parseTexts', () => {
  it('returns the texts of a body', () => {
    expect(parseTexts({ email: 'a@b.c', password: 'password' }, WANTED)).toEqual({ email: 'a@b.c', password: 'password' });
  });

  const mistakes: readonly (readonly [string, Json | undefined, readonly string[]])[] = [
    ['nothing', undefined, [': type']],
    ['text', 'email', [': type']],
    ['a list', [], [': type']],
    ['null', null, [': type']],
    ['no members', {}, ['email: required', 'password: required']],
    ['operators for texts', { email: { $ne: null }, password: ['password'] }, ['email: type', 'password: type']],
    ['wrong lengths', { email: 'ab', password: 'x'.repeat(13) }, ['email: tooShort', 'password: tooLong']],
    ['an unknown member', { email: 'a@b.c', password: 'password', role: 'admin' }, ['role: unknown']],
    [
      'names that objects inherit',
      JSON.parse('{"__proto__":{"email":"a@b.c"},"password":"password"}'),
      ['__proto__: unknown', 'email: required'],
    ],
  ];

  it.each(mistakes)('lists every mistake of %s', (_, body, expected) => {
    const problem = problemOf(() => parseTexts(body, WANTED));
    expect(problem.code).toBe('VALUE_INVALID');
    expect(problem.extras.errors?.map(({ path, code }) => `${path}: ${code}`)).toEqual(expected);
  });

  it('suggests the name of a mistyped member', () => {
    const problem = problemOf(() => parseTexts({ email: 'a@b.c', pasword: 'password' }, WANTED));
    expect(problem.extras.errors?.[0]?.detail).toContain('did you mean "password"?');
  });
});

function problemOf(work: () => unknown): Problem {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('it was taken');
}
