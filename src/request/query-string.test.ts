import { describe, expect, it } from 'vitest';
import { Problem } from '../errors.ts';
import { parseQuery } from './query-string.ts';

/** Returns the tree as nested pairs, so that names such as `__proto__` stay visible. */
function toPairs(node: unknown): unknown {
  return node instanceof Map ? [...node].map(([name, value]) => [name, toPairs(value)]) : node;
}

const parsed: readonly (readonly [string, unknown])[] = [
  ['', []],
  ['limit=5', [['limit', '5']]],
  [
    'a=1&&b=2&',
    [
      ['a', '1'],
      ['b', '2'],
    ],
  ],
  ['total', [['total', '']]],
  ['a=x=y', [['a', 'x=y']]],
  ['a=x+y%2B%20z', [['a', 'x y+ z']]],
  ['a=%C3%A9', [['a', 'é']]],
  ['where[status]=draft', [['where', [['status', 'draft']]]]],
  ['where%5Bstatus%5D=draft', [['where', [['status', 'draft']]]]],
  [
    'where[age][gt]=3&where[age][lt]=9&where[x]=1',
    [
      [
        'where',
        [
          [
            'age',
            [
              ['gt', '3'],
              ['lt', '9'],
            ],
          ],
          ['x', '1'],
        ],
      ],
    ],
  ],
  ['where[__proto__][constructor]=1', [['where', [['__proto__', [['constructor', '1']]]]]]],
  ['__proto__=1', [['__proto__', '1']]],
];

const refused: readonly (readonly [string, string])[] = [
  ['limit=1&limit=2', 'REQUEST_PARAMETER'],
  ['a[b]=1&a[b]=2', 'REQUEST_PARAMETER'],
  ['a=1&a[b]=2', 'REQUEST_PARAMETER'],
  ['a[b]=2&a=1', 'REQUEST_PARAMETER'],
  ['a[b]=2&a[b][c]=1', 'REQUEST_PARAMETER'],
  ['a[b][c][d]=1', 'REQUEST_PARAMETER'],
  ['=1', 'REQUEST_PARAMETER'],
  ['[a]=1', 'REQUEST_PARAMETER'],
  ['a[]=1', 'REQUEST_PARAMETER'],
  ['a[b=1', 'REQUEST_PARAMETER'],
  ['a]b=1', 'REQUEST_PARAMETER'],
  ['a[b]c=1', 'REQUEST_PARAMETER'],
  ['a[[b]]=1', 'REQUEST_PARAMETER'],
  ['a=%zz', 'REQUEST_MALFORMED'],
  ['%=1', 'REQUEST_MALFORMED'],
  ['a=%ff', 'REQUEST_MALFORMED'],
  [`a=${'x'.repeat(8193)}`, 'REQUEST_PARAMETER'],
  [`${'x'.repeat(257)}=1`, 'REQUEST_PARAMETER'],
  [Array.from({ length: 101 }, (_, index) => `a${index}=1`).join('&'), 'REQUEST_PARAMETER'],
];

describe('parseQuery', () => {
  it.each(parsed)('parses the query "%s"', (text, expected) => {
    expect(toPairs(parseQuery(text))).toEqual(expected);
  });

  // A title contains the beginning of its query, because some queries have thousands of characters.
  it.each(refused.map(([text, code]) => [text.slice(0, 50), text, code] as const))('refuses the query "%s"', (_, text, code) => {
    let refusal: unknown;
    try {
      parseQuery(text);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(Problem);
    expect((refusal as Problem).code).toBe(code);
  });

  it('ignores empty parameters of a query', () => {
    expect(toPairs(parseQuery(`${'&'.repeat(500)}limit=1`))).toEqual([['limit', '1']]);
  });

  it('accepts 100 parameters of a query', () => {
    expect(parseQuery(Array.from({ length: 100 }, (_, index) => `a${index}=1`).join('&')).size).toBe(100);
  });
});
