import { describe, expect, it } from 'vitest';
import { parseJsonBody } from './http-messages.ts';
import { refusalOf } from './http-request.fixture.ts';

const bytes = (...parts: readonly (string | number)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));

describe('parseJsonBody', () => {
  it.each<[string, Buffer, unknown]>([
    ['no bytes', bytes(), undefined],
    ['an object', bytes('{"a":[1,null]}'), { a: [1, null] }],
    ['a byte order mark', bytes(0xef, 0xbb, 0xbf, '1'), 1],
    ['text beyond ASCII', bytes('"é漢😀"'), 'é漢😀'],
  ])('parses a body of %s', (_, body, expected) => {
    expect(parseJsonBody(body, 8)).toEqual(expected);
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
    const parse = (): unknown => parseJsonBody(body, 8);
    expect(refusalOf(parse)?.code).toBe('REQUEST_MALFORMED');
    expect(parse).toThrow(fact);
  });

  it('does not repeat the body in the message', () => {
    const parse = (): unknown => parseJsonBody(bytes('{"password": hunter2}'), 8);
    expect(parse).toThrow(/JSON/);
    expect(parse).not.toThrow(/hunter|password/);
  });
});
