import { describe, expect, it } from 'vitest';
import { parseAccept } from './transfer-deps.ts';

describe('parseAccept', () => {
  it.each([
    [undefined, []],
    ['*/*', []],
    ['text/csv', ['csv']],
    ['text/csv, application/json', ['csv', 'json']],
    ['application/json, text/csv', ['json', 'csv']],
    ['application/json, text/csv;q=0.5', ['json', 'csv']],
    ['application/json;q=0.1, text/csv; Q=0.5, application/x-ndjson ; q=0.500', ['csv', 'ndjson', 'json']],
    ['text/csv;charset=utf-8;q=0.2, application/json', ['json', 'csv']],
    ['text/csv;q=0, application/json', ['json']],
    ['text/csv; Q=0.000, application/json;q=0.', []],
    ['text/csv;q=high, application/json', ['json']],
  ])('ranks the formats of the header %j as %j', (accept, expected) => {
    expect(parseAccept({ header: () => accept })).toEqual(expected);
  });
});
