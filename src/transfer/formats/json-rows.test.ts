import { describe, expect, it } from 'vitest';
import { type ExpectedOutcome, read, toMatchers } from './formats.fixture.ts';

const BROKEN = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]);

describe('NDJSON', () => {
  it.each<[string, string | Uint8Array, ExpectedOutcome]>([
    [
      'an object per line',
      '{"title":"a"}\n{"title":"b"}\n',
      [
        [1, { title: 'a' }],
        [2, { title: 'b' }],
      ],
    ],
    [
      'a last line without a line end',
      '{"title":"a"}\r\n{"title":"ü"}',
      [
        [1, { title: 'a' }],
        [2, { title: 'ü' }],
      ],
    ],
    [
      'and counts empty lines',
      '\n\n{"a":1}\n \n{"b":2}',
      [
        [3, { a: 1 }],
        [5, { b: 2 }],
      ],
    ],
    ['a byte order mark', '\ufeff{"a":1}', [[1, { a: 1 }]]],
    ['nothing', '', []],
    ['values that are not objects', '[1]\n7\nnull\n', [/^1: .*object.*list/, /^2: .*object.*7/, /^3: .*object.*null/]],
    ['on after invalid JSON', '{"a":\n{"b":2}', [/^1: .*valid JSON/, [2, { b: 2 }]]],
    ['on after a line that is too long', `{"a":"${'x'.repeat(300)}"}\n{"b":2}`, [/^1: .*line.*200 characters/, [2, { b: 2 }]]],
    ['a last line that is too long', `{"a":"${'x'.repeat(300)}`, [/^1: .*line.*200 characters/]],
    ['a duplicate name', '{"a":1,"\\u0061":2}\n{"b":2}', [/^1: .*twice: a$/, [2, { b: 2 }]]],
    ['a number that is too large', '{"a":1e400}', [/^1: .*number.*too large/]],
    ['a value that nests too deeply', `{"a":${'['.repeat(20)}`, [/^1: .*8 levels/]],
    ['bytes that are not UTF-8', BROKEN, [/^REQUEST_MALFORMED: .*UTF-8/]],
    [
      'half a character at the end',
      new TextEncoder().encode('{"a":1}\n"ü').subarray(0, 10),
      [[1, { a: 1 }], /^REQUEST_MALFORMED: .*UTF-8/],
    ],
  ])('reads NDJSON: %s', async (_, body, expected) => {
    for (const size of [1, 7, 1000]) expect(await read('ndjson', body, {}, size)).toEqual(toMatchers(expected));
  });
});

describe('a JSON array', () => {
  it.each<[string, string, ExpectedOutcome]>([
    [
      'items',
      ' [ {"title":"a"} , {"title":"b"} ] ',
      [
        [1, { title: 'a' }],
        [2, { title: 'b' }],
      ],
    ],
    ['no item', '[ ]', []],
    [
      'strings with brackets, quotes and backslashes',
      '[{"a":"],[{"},{"b":"\\"}]\\\\"},{"c":"\\\\"}]',
      [
        [1, { a: '],[{' }],
        [2, { b: '"}]\\' }],
        [3, { c: '\\' }],
      ],
    ],
    [
      'items within items',
      '[{"a":[1,[2]],"b":{"c":[]}},{"d":{}}]',
      [
        [1, { a: [1, [2]], b: { c: [] } }],
        [2, { d: {} }],
      ],
    ],
    [
      'items that are not objects',
      '[1,"x,y",[2],{"a":1}]',
      [/^1: .*object.*given 1$/, /^2: .*object.*"x,y"/, /^3: .*object.*list/, [4, { a: 1 }]],
    ],
    ['an item that is not JSON', '[{"a":tru},{"b":1}]', [/^1: .*valid JSON/, [2, { b: 1 }]]],
    ['an item with a duplicate name', '[{"a":1,"a":2},{"b":1}]', [/^1: .*twice: a$/, [2, { b: 1 }]]],
    ['an incomplete array', '[{"a":1},{"b":', [[1, { a: 1 }], /^REQUEST_MALFORMED: .*incomplete/]],
    ['a trailing comma', '[{"a":1},]', [[1, { a: 1 }], /^REQUEST_MALFORMED: .*record.*"]"/]],
    ['a leading comma', '[,{"a":1}]', [/^REQUEST_MALFORMED: .*record.*","/]],
    ['a value that is not an array', '{"a":1}', [/^REQUEST_MALFORMED: .*opening bracket.*"{"/]],
    ['nothing', '', [/^REQUEST_MALFORMED: .*incomplete/]],
    ['text behind the array', '[{"a":1}] x', [[1, { a: 1 }], /^REQUEST_MALFORMED: .*behind the closing bracket.*"x"/]],
    ['an item that is too long', `[{"a":"${'x'.repeat(300)}"}]`, [/^REQUEST_MALFORMED: .*200 characters/]],
  ])('reads a JSON array: %s', async (_, body, expected) => {
    for (const size of [1, 2, 7, 1000]) {
      const rows = await read('json', body, {}, size);
      // The chunk size decides whether rows before a mistake were yielded; the mistake is the same.
      if (expected.at(-1) instanceof RegExp) expect(rows.at(-1)).toMatch(expected.at(-1) as RegExp);
      else expect(rows).toEqual(toMatchers(expected));
    }
    expect((await read('json', body, {}, 1)).slice(0, expected.length)).toEqual(toMatchers(expected));
  });
});
