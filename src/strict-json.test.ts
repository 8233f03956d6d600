import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from './errors.ts';
import { parseJson } from './strict-json.ts';

const parse = (text: string, maxDepth = 64): unknown => parseJson(text, { maxDepth, subject: 'the body' });

function refusalOf(text: string, maxDepth?: number): Problem {
  try {
    parse(text, maxDepth);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error(`${text.slice(0, 100)} was accepted`);
}

describe('names given twice', () => {
  it.each([
    ['side by side', '{"a":1,"a":1}', 'a'],
    ['with others in between', '{"a":1,"b":{"a":2},"a":3}', 'a'],
    ['escaped', '{"a":1,"\\u0061":2}', 'a'],
    ['escaped in both', '{"\\u0061":1,"\\u0061":2}', 'a'],
    ['an escaped slash', '{"a/b":1,"a\\/b":2}', 'a/b'],
    ['in a list', '[{"a":1},{"a":1,"b":[0,{"c":{},"c":[]}]}]', '1.b.1.c'],
    ['deep inside', `${'{"x":['.repeat(20)}{"y":1,"y":2}${']}'.repeat(20)}`, `${'x.0.'.repeat(20)}y`],
    ['__proto__', '{"__proto__":1,"__proto__":2}', '__proto__'],
    ['constructor', '{"constructor":1,"constructor":{}}', 'constructor'],
    ['empty', '{"":1,"":2}', ''],
    ['numbers', '{"0":1,"0":2}', '0'],
    ['with colons, commas and brackets in texts', '{"a":":,{}[]\\"","b":":","a":2}', 'a'],
    ['in names with colons', '{":":1,",":2,":":3}', ':'],
    ['with white space', '{ "a" : 1 , \n "a" : 2 }', 'a'],
    ['a half of a pair of surrogates', '{"\\ud800":1,"\\uD800":2}', '\ud800'],
    ['the first of several', '{"a":1,"b":{"c":1,"c":2},"a":3}', 'b.c'],
  ])('finds a name given twice: %s', (_, text, path) => {
    const { code, extras } = refusalOf(text);
    expect([code, extras.errors?.map((issue) => [issue.path, issue.code])]).toEqual(['REQUEST_MALFORMED', [[path, 'duplicate']]]);
  });

  it.each([
    '{"a":1,"A":2}',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '{"a":"a","b":"\\"a\\":1,\\"a\\":2"}',
    '{"é":1,"e\u0301":2}',
    '{"":{"":0}}',
  ])('finds no name given twice in %s', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it('bounds the text that a refusal repeats', () => {
    const long = 'x'.repeat(100_000);
    expect(JSON.stringify(refusalOf(`{"${long}":1,"${long}":2}`).extras.errors).length).toBeLessThan(300);
    expect(JSON.stringify(refusalOf(`${`{"${long}":`.repeat(60)}{"a":1,"a":2}${'}'.repeat(60)}`).extras.errors).length).toBeLessThan(1000);
  });

  it('finds names given twice in any JSON text, and none in a text without them', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        expect(parse(text)).toEqual(JSON.parse(text));
        const name = JSON.stringify(text);
        expect(refusalOf(`[${text},{${name}:${text},"b":0,${name}:1}]`).extras.errors?.[0]?.path).toBe(`1.${text.slice(0, 64)}`);
      }),
    );
  });
});

describe('numbers', () => {
  it.each(['{"a":1.7976931348623157e308}', '{"b":"1e400"}', '[1e-400]', `["${'9'.repeat(400)}"]`])('parses the numbers in %s', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it.each(['1e400', '{"a":[-1e400]}', `{"a":${'9'.repeat(400)}}`, '{"a":{"b":1E+309}}'])(
    'refuses a number that is too large: %s',
    (text) => {
      expect(refusalOf(text).code).toBe('REQUEST_MALFORMED');
      expect(refusalOf(text).detail).toMatch(/number.*too large/);
    },
  );
});

const nested = (depth: number): string => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;

describe('nesting', () => {
  it.each([
    ['a number', '1', 1],
    ['as deep as allowed', nested(64), 64],
    ['side by side', `[${'[],'.repeat(1000)}[]]`, 2],
    ['brackets in a text', `["${'['.repeat(100)}"]`, 1],
    ['brackets after an escaped quote', '["\\"[[[[["]', 1],
    ['brackets in a name', '{"[[[[":1}', 1],
  ])('accepts the nesting: %s', (_, text, max) => {
    expect(parse(text, max)).toEqual(JSON.parse(text));
  });

  it.each([
    ['one level deeper', nested(66), 65],
    ['very deep', '['.repeat(100_000), 64],
    ['brackets after an escaped backslash', '["\\\\",[[["x"]]]]', 3],
  ])('refuses the nesting: %s', (_, text, max) => {
    expect(refusalOf(text, max).detail).toContain(`${max} levels`);
  });

  it('refuses a text that never ends', () => {
    expect(refusalOf('["[[[[', 1).detail).toMatch(/valid JSON/);
  });
});
