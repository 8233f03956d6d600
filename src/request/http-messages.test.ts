import { describe, expect, it } from 'vitest';
import { parseJsonBody } from './http-messages.ts';

const bytes = (...parts: readonly (string | number)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));

describe('parseJsonBody', () => {
  it.each<[string, Buffer, unknown]>([
    ['nothing', bytes(), undefined],
    ['an object', bytes('{"a":[1,null]}'), { a: [1, null] }],
    ['a byte order mark', bytes(0xef, 0xbb, 0xbf, '1'), 1],
    ['text beyond ASCII', bytes('"é漢😀"'), 'é漢😀'],
  ])('parses %s', (_, body, expected) => {
    expect(parseJsonBody(body, 8)).toEqual(expected);
  });

  it.each<[string, Buffer, string]>([
    ['bytes that are not UTF-8', bytes('"', 0xff, '"'), 'the body is not valid UTF-8'],
    ['a truncated character', bytes('"', 0xe6, 0xbc, '"'), 'the body is not valid UTF-8'],
    ['nesting that is too deep', bytes('[[[[[[[[[]]]]]]]]]'), 'expected at most 8 levels of nesting'],
    ['a mistake, with its position', bytes('{"a": 1,\n "b" 2}'), 'the body is not valid JSON: line 2, column 6'],
    ['a truncated text', bytes('{"a":'), 'the body is not valid JSON'],
    ['NaN', bytes('NaN'), 'the body is not valid JSON'],
    ['only white space', bytes('  '), 'the body is not valid JSON'],
    ['a name given twice', bytes('{"effect":"DENY","effect":"ALLOW"}'), 'the body has a name twice: effect'],
  ])('refuses %s', (_, body, message) => {
    expect(() => parseJsonBody(body, 8)).toThrow(message);
  });

  it('does not repeat the body in the error', () => {
    expect(() => parseJsonBody(bytes('{"password": hunter2}'), 8)).toThrow(/^the body is not valid JSON$/);
  });
});
