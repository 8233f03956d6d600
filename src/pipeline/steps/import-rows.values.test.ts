/** Rows of an upsert by their values: keys of other types than text, and guarded fields. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../operators/index.ts';
import { codeOf, openPipeline, type TestPipeline, type TestRule } from '../pipeline.fixture.ts';
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

describe('a row with guarded fields', () => {
  const row = { id: 'ben', name: 'Benjamin', email: 'ben@example.com', role: 'user', isActive: true };
  const allow = (...actions: readonly string[]): readonly TestRule[] => actions.map((action) => ({ resource: 'User', action }));
  const withoutRole = [{ field: 'request.data.role', operator: 'exists', value: false }];
  const importAs = (rules: readonly TestRule[], data: JsonObject) =>
    test.inContext({ as: 'ann', request: { action: 'import', resource: 'User', data }, rules }, (context) =>
      importRow(context, { key: 'id', issues: [] }),
    );

  it('a row may repeat the stored values of guarded fields, as an exported row does', async () => {
    expect(await importAs(allow('import', 'update', 'read'), row)).toBe('updated');
    expect(await importAs(allow('import', 'update', 'read'), { ...row, name: 'Ben' })).toBe('unchanged');
  });

  it.each<[string, readonly TestRule[], JsonObject, string]>([
    ['another role', allow('import', 'update', 'read'), { role: 'admin' }, 'VALUE_INVALID role:guarded'],
    ['another status', allow('import', 'update', 'read'), { isActive: false }, 'VALUE_INVALID isActive:guarded'],
    ['stored values that the caller may not read', allow('import', 'update'), {}, 'VALUE_INVALID role:guarded isActive:guarded'],
    [
      'a stored role, if a policy requires that no role is sent',
      [...allow('import', 'read'), { resource: 'User', action: 'update', conditions: withoutRole }],
      {},
      'ACCESS_DENIED',
    ],
  ])('refuses a row with %s', async (_, rules, change, code) => {
    expect(await codeOf(importAs(rules, { ...row, ...change }))).toBe(code);
  });
});
