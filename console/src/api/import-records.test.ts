import { describe, expect, it } from 'vitest';
import { mediaTypeOf, parseImportLine } from './import-records.ts';
import { RequestError } from './problem.ts';

describe('parseImportLine', () => {
  const counts = { imported: 1, updated: 0, unchanged: 0, rejected: 0 };

  it.each([
    ['progress', { progress: { ...counts, row: 3 } }],
    ['rejected', { row: 2, code: 'VALUE_INVALID', detail: 'no' }],
    ['end', { success: true, data: counts }],
  ])('recognizes a line of the kind %s', (kind, content) => {
    expect(parseImportLine(JSON.stringify(content)).kind).toBe(kind);
  });

  it('throws the problem of an import that stopped', () => {
    const line = JSON.stringify({ success: false, title: 'Invalid values', status: 422, code: 'VALUE_INVALID' });
    expect(() => parseImportLine(line)).toThrow(RequestError);
  });
});

describe('mediaTypeOf', () => {
  it('knows the formats by the names of their files', () => {
    expect(['a.CSV', 'a.json', 'a.ndjson'].map(mediaTypeOf)).toEqual(['text/csv', 'application/json', 'application/x-ndjson']);
  });
});
