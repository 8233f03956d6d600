import { describe, expect, it } from 'vitest';
import { parseJson } from './strict-json.ts';

describe('parseJson', () => {
  it.each(['{"a":{"a":1},"b":[{"a":2},{"a":3}],"c":"x:\\"y\\": {","d":null}', '[]', '"a:b"', ' 1 ', '{"__proto__":1}'])(
    'parses %s',
    (text) => {
      expect(parseJson(text)).toEqual(JSON.parse(text));
    },
  );

  it.each(['{"a":1,"a":2}', '[{"x":{"a":1,"b":2,"\\u0061":3}}]', '{"":1,"":1}', '{"__proto__":1,"__proto__":2}'])(
    'refuses a name that an object has twice: %s',
    (text) => {
      expect(() => parseJson(text)).toThrow('twice');
    },
  );

  it('refuses a text that is not JSON', () => {
    expect(() => parseJson('{')).toThrow(SyntaxError);
  });

  it('parses values that are nested deep', () => {
    const text = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(() => parseJson(text)).not.toThrow();
  });
});
