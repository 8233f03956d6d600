import { describe, expect, it } from 'vitest';
import type { Json } from '../operators/index.ts';
import { parseJsonBody } from './http-messages.ts';
import { refusalOf } from './http-request.fixture.ts';

const bytes = (...parts: readonly (string | number)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));

function parse(body: Buffer): Json | undefined {
  const { value, done } = parseJsonBody(body, { maxDepth: 8 }).next();
  expect(done).toBe(true);
  return value as Json | undefined;
}

describe('parseJsonBody', () => {
  it.each<[string, Buffer, unknown]>([
    ['no bytes', bytes(), undefined],
    ['an object', bytes('{"a":[1,null]}'), { a: [1, null] }],
    ['a byte order mark', bytes(0xef, 0xbb, 0xbf, '1'), 1],
    ['text beyond ASCII', bytes('"é漢😀"'), 'é漢😀'],
  ])('parses a body of %s', (_, body, expected) => {
    expect(parse(body)).toEqual(expected);
  });

  it.each<[string, Buffer, RegExp]>([
    ['bytes that are not UTF-8', bytes('"', 0xff, '"'), /UTF-8/],
    ['a truncated character', bytes('"', 0xe6, 0xbc, '"'), /UTF-8/],
    ['nesting that is too deep', bytes('[[[[[[[[[]]]]]]]]]'), /\b8\b/],
    ['a mistake, and reports its position', bytes('{"a": 1,\n "b" 2}'), /line 2, column 6$/],
    ['a truncated object', bytes('{"a":'), /JSON/],
    ['NaN', bytes('NaN'), /JSON/],
    ['only white space', bytes('  '), /JSON/],
    ['a name given twice', bytes('{"effect":"DENY","effect":"ALLOW"}'), /\beffect$/],
  ])('refuses a body with %s', (_, body, fact) => {
    expect(refusalOf(() => parse(body))?.code).toBe('REQUEST_MALFORMED');
    expect(() => parse(body)).toThrow(fact);
  });

  it('parses a long body in steps', () => {
    expect(parseJsonBody(bytes(`[${'0,'.repeat(100_000)}0]`), { maxDepth: 8 }).next()).toEqual({ done: false, value: undefined });
  });

  it('does not repeat the body in the message', () => {
    const parseSecret = (): unknown => parse(bytes('{"password": hunter2}'));
    expect(parseSecret).toThrow(/JSON/);
    expect(parseSecret).not.toThrow(/hunter|password/);
  });
});
