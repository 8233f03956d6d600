import { describe, expect, it } from 'vitest';
import { createRowCounter, type ExportFormat } from './row-counter.ts';

/** Counts the rows of a file that arrives in parts of a size. */
function count(format: ExportFormat, text: string, size: number): number {
  const bytes = new TextEncoder().encode(text);
  const next = createRowCounter(format);
  let rows = 0;
  for (let start = 0; start < bytes.length; start += size) rows = next(bytes.subarray(start, start + size));
  return rows;
}

const FILES: readonly (readonly [ExportFormat, string, string, number])[] = [
  ['csv', 'no record', 'id,title\r\n', 0],
  ['csv', 'two records', 'id,title\r\n1,a\r\n2,b\r\n', 2],
  ['csv', 'lines and quotes inside a cell', 'id,title\r\n1,"a\r\n""b""\r\n,c"\r\n2,""""\r\n', 2],
  ['csv', 'letters of several bytes', 'id,title\r\n1,"北\n京"\r\n', 1],
  ['ndjson', 'no record', '', 0],
  ['ndjson', 'two records', '{"a":"\\n"}\n{"a":"{"}\n', 2],
  ['json', 'no record', '[\n]\n', 0],
  ['json', 'two records', '[\n{"a":"\\n{"},\n{"b":{"c":{}}}\n]\n', 2],
];

describe('the number of rows of an export', () => {
  it.each(FILES)('in %s with %s does not depend on the parts in which the file arrives', (format, _, text, rows) => {
    for (const size of [1, 2, 7, 1000]) expect(count(format, text, size)).toBe(text === '' ? 0 : rows);
  });

  it('grows while the file arrives', () => {
    const next = createRowCounter('ndjson');
    const encoder = new TextEncoder();
    expect(['{}\n{', '}\n', '{}\n'].map((part) => next(encoder.encode(part)))).toEqual([1, 2, 3]);
  });
});
