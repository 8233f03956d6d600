import { afterAll, beforeAll, expect, it } from 'vitest';
import { LIMITS } from '../../test/policy-fixtures.ts';
import { SYSTEM } from '../resources/system/index.ts';
import { assignToRole, createPolicy, migrate, type Query, type Transaction, updatePolicy } from '../storage/index.ts';
import { openTestDatabase, replaceMembers, type TestDatabase } from '../storage/storage.fixture.ts';
import type { Snapshot } from './load-snapshot.ts';
import { applicableRules, type PolicyInput } from './policies/index.ts';
import { createPolicyStore } from './policy-store.ts';

const by = 'admin-1';
/** The first words of statements with which a load of the whole state begins to search assignments, and policies that read other records. */
const SEARCHES = { assignments: 'SELECT "id" FROM "_RolePolicy"', policies: 'SELECT "id" FROM "_Policy"' };

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, SYSTEM);
});
afterAll(() => test.dispose());

const policyOf = (name: string, effect: 'ALLOW' | 'DENY'): PolicyInput => ({
  ...{ name, type: 'CUSTOM', isActive: true, priority: 1, tags: [] },
  rules: [
    {
      ...{ resource: 'User', action: 'read', effect, priority: 1, isActive: true },
      // The condition reads another record, so the snapshot counts the rule.
      conditions: [{ field: 'resource.createdBy.role', operator: 'eq', value: 'user' }],
    },
  ],
});

/** Returns a handle that calls `change` after each statement that begins with a text. */
function changing(tx: Transaction, statement: string, change: () => Promise<unknown>): Transaction {
  return replaceMembers(tx, {
    one: async <Row>(query: Query): Promise<Row | undefined> => {
      const row = await tx.one<Row>(query);
      if ('texts' in query && query.texts[0]?.startsWith(statement)) await change();
      return row;
    },
  });
}

/** Returns the effects of the rules of a role, and the records that the snapshot watches. */
function contentOf({ policies }: Snapshot): unknown {
  const { rules } = applicableRules(policies, { assignments: [], role: 'viewer', resource: 'User', action: 'read', now: 0 });
  return [rules.map(({ effect }) => effect), policies.watch, [...policies.watchCounts]];
}

it.each(Object.entries(SEARCHES))('loads the state once although policies change when it searches %s', async (_, statement) => {
  const rolledBack = test.database.transaction(async (tx) => {
    const { id } = await createPolicy(tx, policyOf('first', 'ALLOW'), { by });
    await assignToRole(tx, { role: 'viewer', policyId: id }, { by });
    let changes = 0;
    const handle = changing(tx, statement, async () => {
      if (++changes > 3) throw new Error('the load repeats');
      await updatePolicy(tx, policyOf('first', changes % 2 === 0 ? 'ALLOW' : 'DENY'), { id, by });
      const second = await createPolicy(tx, policyOf(`another ${changes}`, 'DENY'), { by });
      await assignToRole(tx, { role: 'viewer', policyId: second.id }, { by });
    });
    const loaded = await createPolicyStore(SYSTEM, { ...LIMITS, maxAssignments: 100 }).snapshotAfterChange(handle);
    expect(changes).toBe(1);
    expect(contentOf(loaded)).toEqual(
      contentOf(await createPolicyStore(SYSTEM, { ...LIMITS, maxAssignments: 100 }).snapshotAfterChange(tx)),
    );
    expect(contentOf(loaded)).toMatchObject([['DENY', 'DENY'], {}, [expect.any(Array)]]);
    throw new Error('rolled back');
  });
  await expect(rolledBack).rejects.toThrow('rolled back');
});
