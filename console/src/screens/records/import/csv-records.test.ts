import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CsvRecord, createCsvSplitter, type Delimiter, detectDelimiter, readHeader, toCsvCell, unquoteCell } from './csv-records.ts';

function split(pieces: readonly string[], delimiter: Delimiter = ','): readonly CsvRecord[] {
  const splitter = createCsvSplitter(delimiter);
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

const cellsOf = (text: string, delimiter?: Delimiter) => split([text], delimiter).map(({ cells }) => cells);

describe('createCsvSplitter', () => {
  it.each([
    [
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\r\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['"a,b","c\nd"\n', [['"a,b"', '"c\nd"']]],
    ['"say ""hi"", he",b', [['"say ""hi"", he"', 'b']]],
    ['""\n', [['""']]],
    ['""""\na', [['""""'], ['a']]],
    ['a"b,c\n', [['a"b', 'c']]],
    ['a,,\n\n', [['a', '', ''], ['']]],
    ['a\rb,c\n', [['a\rb', 'c']]],
    ['"not closed,\n1', [['"not closed,\n1']]],
    ['', []],
  ] as const)('splits %j', (text, expected) => expect(cellsOf(text)).toEqual(expected));

  it('splits by another delimiter', () => {
    expect(cellsOf('a;b,c\n', ';')).toEqual([['a', 'b,c']]);
    expect(cellsOf('a\tb\n', '\t')).toEqual([['a', 'b']]);
  });

  it('gives the same records for every division into pieces, and loses no character', () => {
    const text = fc.stringMatching(/^[ab",\r\n]{0,40}$/);
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 5 }), (whole, size) => {
        const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) => whole.slice(index * size, (index + 1) * size));
        const records = split(pieces);
        expect(records).toEqual(split([whole]));
        expect(records.map(({ cells, end }) => cells.join(',') + end).join('')).toBe(whole);
      }),
    );
  });
});

describe('toCsvCell', () => {
  it('is the inverse of unquoteCell, except for formulas', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(unquoteCell(toCsvCell(text)).replace(/^'/, '')).toBe(text.replace(/^'/, ''));
      }),
    );
  });

  it('writes a formula as a text', () => expect(toCsvCell('=1+1')).toBe("'=1+1"));
});

describe('readHeader', () => {
  it('has the names of the first line that is not empty, without their quotes', () => {
    expect(readHeader('\r\n"Titel ""neu""",__proto__,,Slug\r\n1,2,3,4', ',')).toEqual(['Titel "neu"', '__proto__', '', 'Slug']);
  });

  it('is empty for a file without lines', () => expect(readHeader('\n\n', ',')).toEqual([]));
});

describe('detectDelimiter', () => {
  const isField = (name: string) => ['title', 'slug'].includes(name);

  it.each([
    ['title,slug', ','],
    ['title;slug;a,b,c,d', ';'],
    ['title\tslug', '\t'],
    ['x;y', ';'],
    ['x', ','],
  ])('finds the delimiter of %j', (header, delimiter) => expect(detectDelimiter(header, isField)).toBe(delimiter));
});
