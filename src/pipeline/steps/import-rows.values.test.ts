/** Rows of an upsert by their values: keys of other types than text. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../operators/index.ts';
import { openPipeline, type TestPipeline } from '../pipeline.fixture.ts';
import { importRow } from './import-rows.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({
    definitions: {
      Plan: {
        fields: {
          isMain: { type: 'boolean', unique: true },
          rank: { type: 'integer', unique: true },
          price: { type: 'decimal', unique: true },
          day: { type: 'date', unique: true },
          title: { type: 'string' },
        },
      },
    },
    records: { Plan: { p1: { isMain: false, rank: 0, price: '1.50', day: '2026-01-31', title: 'old' } } },
  });
});
afterAll(() => test.dispose());

describe('the key of a row', () => {
  it.each<[string, Json]>([
    ['isMain', false],
    ['rank', 0],
    ['price', '1.50'],
    ['day', '2026-01-31'],
  ])('finds the record by the key %s with the value %j', async (key, value) => {
    const data = { [key]: value, title: 'new' };
    await test.inContext({ as: 'ada', request: { action: 'import', resource: 'Plan', data } }, async (context) => {
      expect(await importRow(context, { key, issues: [] })).toBe('updated');
    });
  });
});
