import { describe, expect, it } from 'vitest';
import { rowsAfter } from './export-job.ts';

describe('the page behind another', () => {
  const page = (rows: number, notes: unknown = 'x') => Array.from({ length: rows }, () => ({ id: 'id', notes: notes as string }));
  it.each([
    ['grows step by step', 16, page(16), 64],
    ['has no more than others should wait for', 200, page(200), 250],
    ['is as long as the records allow', 16, page(16, 'x'.repeat(99_998)), 10],
    ['counts what lies in lists and JSON', 16, page(16, ['x'.repeat(99_994)]), 10],
    ['has one record at least', 16, page(16, 'x'.repeat(5_000_000)), 1],
    ['is as this one, where that was empty', 40, [], 40],
  ])('%s', (_, rows, records, expected) => {
    expect(rowsAfter(rows, records)).toBe(expected);
  });
});
