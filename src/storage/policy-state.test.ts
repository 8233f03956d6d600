import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadParsedState, openPolicyDatabase, toPolicyInput } from './policy.fixture.ts';
import { importPolicies } from './policy-bulk-import.ts';
import { createPolicy, deletePolicy } from './policy-records.ts';
import { eachPolicyPage } from './policy-rows.ts';
import { loadPolicyState } from './policy-state.ts';
import { isIntact } from './row-checksums.ts';
import type { TableRow } from './row-content.ts';
import type { TestDatabase } from './storage.fixture.ts';

/** More policies than two pages hold. */
const POLICIES = 2500;

let test: TestDatabase;

beforeAll(async () => {
  test = await openPolicyDatabase();
  const imports = Array.from({ length: POLICIES }, (_, nth) => ({ policy: toPolicyInput(`policy ${nth}`), roles: [], users: [] }));
  await test.database.transaction((tx) => importPolicies(tx, imports, { by: 'admin-1' }));
});
afterAll(() => test.dispose());

describe('all policies', () => {
  it('loads each of thousands of policies once, with its rules in order', async () => {
    const { policies, damaged } = await test.database.transaction(loadParsedState);
    expect([new Set(policies.map(({ name }) => name)).size, policies.length, damaged]).toEqual([POLICIES, POLICIES, undefined]);
    const priorities = new Set(policies.map(({ rules }) => rules.map(({ priority }) => priority).join()));
    expect([...priorities]).toEqual(['900,5']);
  });

  it('parses a policy later, unless its conditions may read other records', async () => {
    const conditions = [{ field: 'resource.authorId.name', operator: 'eq', value: 'Ada' }];
    const rule = { resource: '*', action: 'read', effect: 'ALLOW', conditions, priority: 1, isActive: true } as const;
    const { id } = await test.database.transaction((tx) => createPolicy(tx, toPolicyInput('others', { rules: [rule] }), { by: 'admin-1' }));
    const { policies } = await test.database.transaction(loadPolicyState);
    await test.database.transaction((tx) => deletePolicy(tx, id, { by: 'admin-1' }));
    const [, ...others] = policies.toSorted((a, b) => Number(b.id === id) - Number(a.id === id));
    expect(policies.find((policy) => policy.id === id)).toMatchObject({ name: 'others', rules: [{ conditions }] });
    expect(others.filter((policy) => 'parse' in policy)).toHaveLength(POLICIES);
  });

  it('loads pages of at most a thousand policies, each with all of its rules', async () => {
    const pages: (readonly TableRow[])[] = [];
    await test.database.transaction((tx) => eachPolicyPage(tx, (rows) => pages.push(rows)));
    expect(pages.map(({ length }) => length)).toEqual([1000, 1000, 500]);
    expect(pages.flat().every(isIntact)).toBe(true);
  });
});
