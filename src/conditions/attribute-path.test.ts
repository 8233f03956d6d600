import { describe, expect, it } from 'vitest';
import { parsePath } from './attribute-path.ts';
import type { ContextGroup } from './condition.ts';

const PATHS: readonly (readonly [string, ContextGroup | undefined, string | RegExp])[] = [
  ['user.department', undefined, 'user.department'],
  ['department', 'user', 'user.department'],
  ['user.department', 'user', 'user.department'],
  ['address.city', 'resource', 'resource.address.city'],
  ['user.https://example', undefined, 'user.https://example'],
  ['user.department', 'resource', /begins with user, but the context is resource/],
  ['department', undefined, /begins with user, resource, environment, request/],
  ['usr.department', undefined, /did you mean "user"/],
  ['', 'user', /a name between dots/],
  ['user.', undefined, /a name between dots/],
  ['user', undefined, /a field after the group/],
  ['user.constructor', undefined, /"constructor" cannot be read/],
  ['user.a b', undefined, /without spaces/],
  ['user.a\u0000', undefined, /without spaces, control characters/],
  [`user${'.a'.repeat(17)}`, undefined, /at most 16 names/],
  [`user.${'a'.repeat(256)}`, undefined, /at most 256 characters/],
];

describe('parsePath', () => {
  for (const [text, context, expected] of PATHS) {
    it(`${typeof expected === 'string' ? 'parses' : 'refuses'} ${JSON.stringify(text.slice(0, 40))} with context ${context ?? 'none'}`, () => {
      const parsed = parsePath(text, { context: context });
      if (typeof expected === 'string') expect(parsed).toMatchObject({ path: { text: expected, keys: expected.split('.').slice(1) } });
      else expect('problem' in parsed && parsed.problem).toMatch(expected);
    });
  }

  it('returns the same object for the same path, and evicts the oldest of many', () => {
    const read = (text: string, context?: ContextGroup) => {
      const parsed = parsePath(text, { context: context });
      return 'path' in parsed ? parsed.path : undefined;
    };
    const first = read('user.team');
    expect(read('team', 'user')).toBe(first);
    for (let index = 0; index < 10_000; index++) read(`user.team${index}`);
    expect(read('user.team')).toEqual(first);
    expect(read('user.team')).not.toBe(first);
  });
});
