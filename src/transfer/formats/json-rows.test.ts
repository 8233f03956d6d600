import { describe, expect, it } from 'vitest';
import { type ReadOutcome, read } from './formats.fixture.ts';

const BROKEN = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]);

describe('NDJSON', () => {
  it.each<[string, string | Uint8Array, ReadOutcome]>([
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
    [
      'values that are not objects',
      '[1]\n7\nnull\n',
      [
        '1: expected an object of fields, given a list of 1',
        '2: expected an object of fields, given 7',
        '3: expected an object of fields, given null',
      ],
    ],
    ['on after invalid JSON', '{"a":\n{"b":2}', ['1: the row is not valid JSON', [2, { b: 2 }]]],
    [
      'on after a line that is too long',
      `{"a":"${'x'.repeat(300)}"}\n{"b":2}`,
      ['1: expected a line of at most 200 characters', [2, { b: 2 }]],
    ],
    ['a last line that is too long', `{"a":"${'x'.repeat(300)}`, ['1: expected a line of at most 200 characters']],
    ['a duplicate name', '{"a":1,"\\u0061":2}\n{"b":2}', ['1: the row has a name twice: a', [2, { b: 2 }]]],
    ['a number that is too large', '{"a":1e400}', ['1: the row has a number that is too large: expected numbers below 1.8e308']],
    ['a value that nests too deeply', `{"a":${'['.repeat(20)}`, ['1: expected at most 8 levels of nesting in the row, more were given']],
    ['bytes that are not UTF-8', BROKEN, ['REQUEST_MALFORMED: the body is not valid UTF-8']],
    [
      'half a character at the end',
      new TextEncoder().encode('{"a":1}\n"ü').subarray(0, 10),
      [[1, { a: 1 }], 'REQUEST_MALFORMED: the body is not valid UTF-8'],
    ],
  ])('reads NDJSON: %s', async (_, body, expected) => {
    for (const size of [1, 7, 1000]) expect(await read('ndjson', body, {}, size)).toEqual(expected);
  });
});

describe('a JSON array', () => {
  it.each<[string, string, ReadOutcome]>([
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
      [
        '1: expected an object of fields, given 1',
        '2: expected an object of fields, given "x,y"',
        '3: expected an object of fields, given a list of 1',
        [4, { a: 1 }],
      ],
    ],
    ['an item that is not JSON', '[{"a":tru},{"b":1}]', ['1: the row is not valid JSON', [2, { b: 1 }]]],
    ['an item with a duplicate name', '[{"a":1,"a":2},{"b":1}]', ['1: the row has a name twice: a', [2, { b: 1 }]]],
    [
      'an incomplete array',
      '[{"a":1},{"b":',
      [[1, { a: 1 }], 'REQUEST_MALFORMED: the array in the body is incomplete: it has no closing bracket'],
    ],
    ['a trailing comma', '[{"a":1},]', [[1, { a: 1 }], 'REQUEST_MALFORMED: expected a record in the array of the body, given "]"']],
    ['a leading comma', '[,{"a":1}]', ['REQUEST_MALFORMED: expected a record in the array of the body, given ","']],
    ['a value that is not an array', '{"a":1}', ['REQUEST_MALFORMED: expected an opening bracket in the array of the body, given "{"']],
    ['nothing', '', ['REQUEST_MALFORMED: the array in the body is incomplete: it has no closing bracket']],
    [
      'text behind the array',
      '[{"a":1}] x',
      [[1, { a: 1 }], 'REQUEST_MALFORMED: expected nothing behind the closing bracket in the array of the body, given "x"'],
    ],
    [
      'an item that is too long',
      `[{"a":"${'x'.repeat(300)}"}]`,
      ['REQUEST_MALFORMED: expected items of at most 200 characters in the array'],
    ],
  ])('reads a JSON array: %s', async (_, body, expected) => {
    for (const size of [1, 2, 7, 1000]) {
      const rows = await read('json', body, {}, size);
      // The chunk size decides whether rows before a mistake were yielded; the mistake is the same.
      if (typeof expected.at(-1) === 'string') expect(rows.at(-1)).toEqual(expected.at(-1));
      else expect(rows).toEqual(expected);
    }
    expect((await read('json', body, {}, 1)).slice(0, expected.length)).toEqual(expected);
  });
});
