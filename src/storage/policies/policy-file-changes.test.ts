import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PolicyImport } from '../../authz/policies/index.ts';
import { SYSTEM } from '../../resources/system/index.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { openTestDatabase, type TestDatabase } from '../storage.fixture.ts';
import { loadRolePolicies } from './assignment-records.ts';
import { toPolicyInput } from './policy.fixture.ts';
import { applyPolicyFiles, type OrphanAction } from './policy-file-changes.ts';
import { createPolicy, listPolicies } from './policy-records.ts';
import { currentRevision } from './revision.ts';

let test: TestDatabase;
beforeEach(async () => {
  test = openTestDatabase();
  await migrate(test.database, SYSTEM);
});
afterEach(() => test.dispose());

const by = 'admin-1';
const inTransaction = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => test.database.transaction(work);
const importOf = (name: string, role: 'user' | 'viewer'): PolicyImport => ({
  policy: toPolicyInput(name),
  file: `policies/${name}.yaml`,
  roles: [{ role }],
  users: [],
});
const apply = (imports: readonly PolicyImport[], orphans: OrphanAction) =>
  inTransaction((tx) => applyPolicyFiles(tx, { imports, orphans }, { by }));
const state = () =>
  inTransaction(async (tx) => ({
    policies: (await listPolicies(tx)).map(({ name, isActive, managedBy }) => `${name} ${isActive} ${managedBy}`).sort(),
    roles: (await loadRolePolicies(tx, sql`1 = 1`)).map(({ role, managedBy }) => `${role} ${managedBy}`).sort(),
  }));

describe('applyPolicyFiles', () => {
  const results: readonly [action: OrphanAction, policies: readonly string[], roles: readonly string[]][] = [
    ['keep', ['Kept true files', 'Gone true files', 'Own true undefined'], ['user files', 'user files', 'viewer files']],
    ['deactivate', ['Kept true files', 'Gone false files', 'Own true undefined'], ['user files', 'viewer files']],
    ['release', ['Kept true files', 'Gone true undefined', 'Own true undefined'], ['user undefined', 'user undefined', 'viewer files']],
    ['delete', ['Kept true files', 'Own true undefined'], ['viewer files']],
  ];
  it.each(results)(
    'the action %s treats what files no longer contain, and nothing else, in one revision',
    async (action, policies, roles) => {
      await inTransaction((tx) => createPolicy(tx, toPolicyInput('Own'), { by }));
      await apply([importOf('Kept', 'user'), importOf('Gone', 'user')], 'keep');
      const before = await inTransaction(currentRevision);
      const applied = await apply([importOf('Kept', 'viewer')], action);
      expect(applied).toMatchObject({ orphanedPolicies: [{ name: 'Gone' }], orphanedRoles: [{ policy: 'Kept', role: 'user' }] });
      expect(await state()).toEqual({ policies: policies.toSorted(), roles });
      expect(await inTransaction(currentRevision)).toBe(before + 1);
    },
  );
});
