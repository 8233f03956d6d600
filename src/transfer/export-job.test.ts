import { describe, expect, it } from 'vitest';
import { nextPageSize } from './export-job.ts';

describe('nextPageSize', () => {
  const page = (rows: number, notes: unknown = 'x') => Array.from({ length: rows }, () => ({ id: 'id', notes: notes as string }));
  it.each([
    ['grows by a factor of four', 16, page(16), 64],
    ['is at most the maximum', 200, page(200), 250],
    ['is limited by the length of records', 16, page(16, 'x'.repeat(99_998)), 10],
    ['counts the content of lists and JSON', 16, page(16, ['x'.repeat(99_994)]), 10],
    ['is at least one', 16, page(16, 'x'.repeat(5_000_000)), 1],
    ['stays the same after an empty page', 40, [], 40],
  ])('the next page size %s', (_, rows, records, expected) => {
    expect(nextPageSize(rows, records)).toBe(expected);
  });
});
