import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { itemsOf, membersOf, toObjectText } from './json-texts.ts';

describe('membersOf', () => {
  it('keeps the values as the text has them', () => {
    const text = ' { "fee": 1.10, "big" : 12345678901234567890, "__proto__": {"a": [1, "}"]}, "fee": null } ';
    expect(membersOf(text)).toEqual([
      { name: 'fee', value: '1.10' },
      { name: 'big', value: '12345678901234567890' },
      { name: '__proto__', value: '{"a": [1, "}"]}' },
      { name: 'fee', value: 'null' },
    ]);
  });

  it('has the names of escaped keys', () => expect(membersOf('{"a\\"b\\u0041":1}')).toEqual([{ name: 'a"bA', value: '1' }]));

  it.each(['', '[]', '{', '{"a"}', '{"a":}', '{"a":1}}', '{"a":1} x}', '{"a":1,}', '{,}', '{"a', '{a:1}', '{"\\x":1}', '{"a":[1}'])(
    'is undefined for %j',
    (text) => expect(membersOf(text)).toBeUndefined(),
  );

  it('every object survives being split and joined', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 2), (object, indent) => {
        const text = JSON.stringify(object, undefined, indent);
        expect(JSON.parse(toObjectText(membersOf(text) ?? []))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('takes linear time for a string that does not end', () => {
    expect(membersOf(`{"a":"${'\\"'.repeat(1_000_000)}}`)).toBeUndefined();
  });
});

describe('itemsOf', () => {
  it.each([
    ['[]', []],
    ['[1, "a,]", [2, 3], {"b": "\\\\"}]', ['1', '"a,]"', '[2, 3]', '{"b": "\\\\"}']],
  ] as const)('splits %j', (text, items) => expect(itemsOf(text)).toEqual(items));

  it.each(['{}', '[1,,2]', '[1', '[1]]', '1'])('is undefined for %j', (text) => expect(itemsOf(text)).toBeUndefined());
});
