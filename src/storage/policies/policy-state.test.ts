import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonMayReadOthers, toDamagedPolicy } from '../../authz/policies/index.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import type { TestDatabase } from '../storage.fixture.ts';
import { assignToRole } from './assignment-records.ts';
import { openPolicyDatabase, toPolicyInput } from './policy.fixture.ts';
import { importPolicies } from './policy-bulk-import.ts';
import { createPolicy, listPolicies } from './policy-records.ts';
import { findPoliciesReadingOthers, loadCheckedPolicies } from './policy-rows.ts';
import { loadPolicyState } from './policy-state.ts';

/** More policies than two statements search. */
const POLICIES = 4100;
const by = 'admin-1';

let test: TestDatabase;

beforeAll(async () => {
  test = await openPolicyDatabase();
  const imports = Array.from({ length: POLICIES }, (_, nth) => ({ policy: toPolicyInput(`policy ${nth}`), roles: [], users: [] }));
  await test.database.transaction((tx) => importPolicies(tx, imports, { by }));
});
afterAll(() => test.dispose());

describe('all policies', () => {
  it('loads each of thousands of policies once, with its rules in order', async () => {
    const all = await test.database.transaction(listPolicies);
    const ids = all.map(({ id }) => id);
    const { policies, damaged } = await test.database.transaction((tx) => loadCheckedPolicies(tx, ids));
    expect([policies.size, damaged]).toEqual([POLICIES, []]);
    expect(ids.map((id) => policies.get(id))).toEqual(all);
  });

  it('loads before the first request only policies of roles and those whose conditions may read other records', async () => {
    const conditions = [{ field: 'resource.authorId.name', operator: 'eq', value: 'Ada' }];
    const rule = { resource: '*', action: 'read', effect: 'ALLOW', conditions, priority: 1, isActive: true } as const;
    const { names, damaged } = await rollingBack(async (tx) => {
      await createPolicy(tx, toPolicyInput('others', { rules: [rule] }), { by });
      const { id } = await createPolicy(tx, toPolicyInput('of a role'), { by });
      await assignToRole(tx, { role: 'user', policyId: id }, { by });
      const state = await loadPolicyState(tx);
      return { names: state.policies.map(({ name }) => name), damaged: state.damaged };
    });
    expect([names.toSorted(), damaged]).toEqual([['of a role', 'others'], undefined]);
  });

  it.each([
    ['a path with three names', { field: 'resource.a.b', operator: 'eq', value: 1 }],
    ['two paths, and a name with spaces in front of a dot', { when: 'resource.title == "a" && resource . a . b == 1' }],
    ['an index', { when: 'resource["authorId"].name == "Ada"' }],
    ['related records', { related: 'Article', on: { authorId: 'user.id' }, count: 'gte', value: 1 }],
    ['ancestors', { field: 'resource.deskId', operator: 'within', value: 'x' }],
    ['a context', { field: { context: 'resource', path: 'a.b' }, operator: 'eq', value: 1 }],
    ['an escaped character', { field: 'resource\\u002ea', operator: 'eq', value: '"' }],
    ['a list', { field: 'resource.title', operator: 'in', value: ['a'] }],
    ['a comment', { when: 'resource.a // b' }],
  ])('finds a policy whose conditions may read other records: %s', async (_, condition) => {
    const rule = { resource: '*', action: 'read', effect: 'ALLOW', conditions: [condition], priority: 1, isActive: true } as const;
    const [id, found] = await rollingBack(async (tx) => {
      const policy = await createPolicy(tx, toPolicyInput('others', { rules: [rule as never] }), { by });
      return [policy.id, await findPoliciesReadingOthers(tx)] as const;
    });
    expect([jsonMayReadOthers(JSON.stringify([condition])), [...found]]).toEqual([true, [id]]);
  });

  it('finds no policy with two simple paths', async () => {
    const conditions = ['a', 'b'].map((name) => ({ field: `resource.${name}`, operator: 'eq', value: 1.5 }));
    const rule = { resource: '*', action: 'read', effect: 'ALLOW', conditions, priority: 1, isActive: true } as const;
    const found = await rollingBack(async (tx) => {
      await createPolicy(tx, toPolicyInput('simple', { rules: [rule] }), { by });
      return findPoliciesReadingOthers(tx);
    });
    expect([...found]).toEqual([]);
  });

  it('denies everything in place of a policy that is damaged or missing', async () => {
    const [first, second] = await test.database.transaction(listPolicies);
    const [{ policies, damaged }, ids] = await rollingBack(async (tx) => {
      await tx.run(sql`UPDATE "_PolicyRule" SET "resource" = 'Other' WHERE "policyId" = ${first?.id}`);
      const wanted = [first?.id ?? '', second?.id ?? '', 'none'];
      return [await loadCheckedPolicies(tx, wanted), wanted] as const;
    });
    expect([...policies.keys()]).toEqual(ids);
    expect(policies.get(ids[1] ?? '')).toEqual(second);
    for (const id of [ids[0] ?? '', 'none']) expect(policies.get(id)).toEqual(toDamagedPolicy(id));
    expect(damaged).toEqual([
      { table: '_Policy', id: first?.id },
      { table: '_Policy', id: 'none', isMissing: true },
    ]);
  });
});

/** Runs work in a transaction that is rolled back, and returns its result. */
async function rollingBack<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
  const results: T[] = [];
  const rolledBack = new Error('rolled back');
  const done = test.database.transaction(async (tx) => {
    results.push(await work(tx));
    throw rolledBack;
  });
  await expect(done).rejects.toBe(rolledBack);
  return results[0] as T;
}
