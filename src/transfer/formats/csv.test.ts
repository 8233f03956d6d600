import { describe, expect, it } from 'vitest';
import type { SourceOptions } from './format.ts';
import { type ExpectedOutcome, read, toMatchers } from './formats.fixture.ts';

describe('CSV', () => {
  const header = 'title,amount,views,open,tags,extra\r\n';
  it.each<[string, string, Partial<SourceOptions>, ExpectedOutcome]>([
    [
      'each cell by the type of its field',
      `${header}a,12.30,7,TRUE,"[""x"",""y""]","{""n"":1}"\r\n`,
      {},
      [[2, { title: 'a', amount: '12.30', views: 7, open: true, tags: ['x', 'y'], extra: { n: 1 } }]],
    ],
    ['empty cells as no value', `${header}a,,,,,\n`, {}, [[2, { title: 'a' }]]],
    [
      'invalid numbers and booleans as texts, which validation refuses',
      'title,views,open\na,0x10,yes\n',
      {},
      [[2, { title: 'a', views: '0x10', open: 'yes' }]],
    ],
    [
      'integers with a fraction or an exponent, which could be rounded, as texts, which validation refuses',
      'title,views\na,9007199254740990.6\nb,9007199254740991.2\nc,1e3\nd,7.00\ne,-7\n',
      {},
      [
        [2, { title: 'a', views: '9007199254740990.6' }],
        [3, { title: 'b', views: '9007199254740991.2' }],
        [4, { title: 'c', views: '1e3' }],
        [5, { title: 'd', views: 7 }],
        [6, { title: 'e', views: -7 }],
      ],
    ],
    ['cells with invalid JSON', 'title,tags,extra\na,x,y\n', {}, [[2, { title: 'a' }], /^2 tags: .*array/, /^2 extra: .*JSON/]],
    [
      'quotes, delimiters and line ends within quotes; rows as a spreadsheet counts them',
      'title\n"a ""b"", c\nd"\n\ne\n',
      {},
      [
        [2, { title: 'a "b", c\nd' }],
        [4, { title: 'e' }],
      ],
    ],
    ['a byte order mark', '\ufefftitle\na', {}, [[2, { title: 'a' }]]],
    ['another delimiter', 'title;views\n"a;b";7', { delimiter: ';' }, [[2, { title: 'a;b', views: 7 }]]],
    ['tabs', 'title\tviews\na\t7', { delimiter: '\t' }, [[2, { title: 'a', views: 7 }]]],
    [
      'guarded formulas',
      "title\n'=1+1\n''@x\n'quoted'\n",
      {},
      [
        [2, { title: '=1+1' }],
        [3, { title: "'@x" }],
        [4, { title: "'quoted'" }],
      ],
    ],
    [
      'apostrophes of write-only fields as a part of the value, because no export writes such a field',
      "title,secret\n'=a,'=correct horse 77\n",
      {},
      [[2, { title: '=a', secret: "'=correct horse 77" }]],
    ],
    ['guarded formulas as they are, with guardFormulas off', "title\n'=1+1\n", { guardFormulas: false }, [[2, { title: "'=1+1" }]]],
    [
      'rows with too few or too many cells',
      'title,views\na\nb,1,2\nc,3\n',
      {},
      [/^2: .* 2 cells.* 1$/, /^3: .* 2 cells.* 3$/, [4, { title: 'c', views: 3 }]],
    ],
    [
      'a header with mistakes',
      'titel,views,views,__proto__,secret\n',
      {},
      [/^REQUEST_MALFORMED: .*header.* 3 /, /^column 1: .*"titel".*"title"/, /^column 3: .*once.*"views"/, /^column 4: .*"__proto__"/],
    ],
    [
      'a header with another delimiter, and reports it before the misplaced quotes',
      'title;views\na "b"; 7;"c"\n',
      {},
      [/^REQUEST_MALFORMED: .*header.* 1 /, /^column 1: .*delimiter ";"/],
    ],
    ['a header with tabs', 'title\tviews\n', { delimiter: ';' }, [/^REQUEST_MALFORMED: .*header.* 1 /, /^column 1: .*delimiter tab/]],
    ['nothing', '', {}, [/^REQUEST_MALFORMED: .*no row/]],
    ['a quote that is not closed', 'title\n"a\nb\n', {}, [/^REQUEST_MALFORMED: .*closing quote.*line 3$/]],
    ['a quote inside a cell', 'title\na"b\n', {}, [/^REQUEST_MALFORMED: .*quote inside.*line 2$/]],
    ['text after a closing quote', 'title\n"a"b\n', {}, [/^REQUEST_MALFORMED: .*delimiter.*line 2$/]],
    ['a row that is too long', `title\n${'x'.repeat(300)}`, {}, [/^REQUEST_MALFORMED: .*too long.*line 2$/]],
    ['a row with many empty cells', `title\n${','.repeat(9999)}\n`, {}, [/^2: .* 1 cell,.* 10000$/]],
    ['a row with too many empty cells', `title\n${','.repeat(10_000)}\n`, {}, [/^REQUEST_MALFORMED: .*at most 10000 cells.* line 2$/]],
    ['a quoted cell without an end', `title\n"${'x\n'.repeat(300)}`, {}, [/^REQUEST_MALFORMED: .*too long.*line 102$/]],
    ['NUL as it is, which validation refuses', 'title\na\u0000b', {}, [[2, { title: 'a\u0000b' }]]],
  ])('reads CSV: %s', async (_, body, options, expected) => {
    for (const size of [1, 7, 1000]) expect(await read('csv', body, options, size)).toEqual(toMatchers(expected));
  });

  it('lists a bounded number of mistakes in a header of many columns', async () => {
    const columns = Array.from({ length: 10_000 }, (_, index) => `c${index}`).join(',');
    const rows = await read('csv', columns, { rowLength: 1_000_000 }, 65_536);
    expect(rows).toHaveLength(101);
  });
});
