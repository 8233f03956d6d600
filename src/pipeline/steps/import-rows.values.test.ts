/** Rows of an upsert by their values: keys of other types than text, and immutable and guarded fields. */
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
      Order: {
        fields: {
          number: { type: 'integer', unique: true },
          price: { type: 'decimal', immutable: true },
          startsAt: { type: 'timestamp', immutable: true },
          mail: { type: 'email', immutable: true },
          parts: { type: 'list', of: 'decimal', immutable: true },
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

describe('a row with immutable fields', () => {
  it.each<[string, Json, Json]>([
    ['price', 5, 6],
    ['price', '5', '5.001'],
    ['startsAt', '2026-01-31T10:00:00+01:00', '2026-01-31T10:00:00Z'],
    ['mail', 'Ann@Example.org', 'Ben@Example.org'],
    ['parts', [1, '2.5'], ['2.5', 1]],
  ])('a row may repeat the stored value of %s as it was first given, %j, and is refused with %j', async (name, value, other) => {
    await test.inContext({ as: 'ada', request: { action: 'import', resource: 'Order' } }, async (context) => {
      const send = (row: JsonObject) =>
        importRow({ ...context, request: { ...context.request, data: { number: 1, ...row } } }, { key: 'number', issues: [] });
      expect([await send({ [name]: value }), await send({ [name]: value })]).toEqual(['imported', 'unchanged']);
      expect(await codeOf(send({ [name]: other }))).toBe(`VALUE_INVALID ${name}:immutable`);
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
