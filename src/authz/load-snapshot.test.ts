import { afterAll, beforeAll, expect, it } from 'vitest';
import { LIMITS } from '../../test/policy-fixtures.ts';
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import { assignToRole, CURRENT_REVISION, createPolicy, migrate, type Query, type Transaction, updatePolicy } from '../storage/index.ts';
import { failure, openTestDatabase, replaceMembers, type TestDatabase } from '../storage/storage.fixture.ts';
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

/** Runs a test in a transaction that is rolled back. */
async function rolledBack(work: (tx: Transaction) => Promise<void>): Promise<void> {
  const end = new Error('rolled back');
  await expect(
    test.database.transaction(async (tx) => {
      await work(tx);
      throw end;
    }),
  ).rejects.toThrow(end);
}

const loadAll = (tx: Transaction): Promise<Snapshot> =>
  createPolicyStore(SYSTEM, { ...LIMITS, maxAssignments: 100 }).snapshotAfterChange(tx);

it.each(Object.entries(SEARCHES))('loads the state once although policies change when it searches %s', async (_, statement) => {
  await rolledBack(async (tx) => {
    const { id } = await createPolicy(tx, policyOf('first', 'ALLOW'), { by });
    await assignToRole(tx, { role: 'viewer', policyId: id }, { by });
    let changes = 0;
    const handle = changing(tx, statement, async () => {
      if (++changes > 3) throw new Error('the load repeats');
      await updatePolicy(tx, policyOf('first', changes % 2 === 0 ? 'ALLOW' : 'DENY'), { id, by });
      const second = await createPolicy(tx, policyOf(`another ${changes}`, 'DENY'), { by });
      await assignToRole(tx, { role: 'viewer', policyId: second.id }, { by });
    });
    const loaded = await loadAll(handle);
    expect(changes).toBe(1);
    expect(contentOf(loaded)).toEqual(contentOf(await loadAll(tx)));
    expect(contentOf(loaded)).toMatchObject([['DENY', 'DENY'], expect.anything(), [expect.any(Array)]]);
  });
});

it('loads the state once although a policy is damaged and others change', async () => {
  await rolledBack(async (tx) => {
    const [damaged, other] = [
      await createPolicy(tx, policyOf('damaged', 'ALLOW'), { by }),
      await createPolicy(tx, policyOf('other', 'DENY'), { by }),
    ];
    for (const { id } of [damaged, other]) await assignToRole(tx, { role: 'viewer', policyId: id }, { by });
    await tx.run(sql`UPDATE "_PolicyRule" SET "resource" = 'Other' WHERE "policyId" = ${damaged.id}`);
    let changes = 0;
    const loaded = await loadAll(
      changing(tx, SEARCHES.policies, async () => {
        if (++changes > 3) throw new Error('the load repeats');
        await updatePolicy(tx, policyOf('other', 'ALLOW'), { id: other.id, by });
      }),
    );
    expect(changes).toBe(1);
    expect(loaded.policies.damaged).toEqual([{ table: '_Policy', id: damaged.id }]);
    expect(contentOf(loaded)).toEqual(contentOf(await loadAll(tx)));
    expect(contentOf(loaded)).toMatchObject([['DENY', 'ALLOW'], expect.anything(), [expect.any(Array)]]);
  });
});

it('loads the state again if the definitions change meanwhile', async () => {
  await rolledBack(async (tx) => {
    const { id } = await createPolicy(tx, policyOf('first', 'ALLOW'), { by });
    let loads = 0;
    const handle = changing(tx, SEARCHES.policies, async () => {
      if (++loads > 1) return;
      await tx.run(sql`UPDATE "_State" SET "text" = 'of others' WHERE "id" = 'definitions'`);
      await updatePolicy(tx, policyOf('first', 'DENY'), { id, by });
    });
    const loaded = await loadAll(handle);
    expect([loads, loaded.definitions === SYSTEM]).toEqual([2, false]);
    expect(loaded.policies.compileOptions.definitions).toBe(loaded.definitions);
  });
});

it('fails after ten loads if a role gets an old policy at each of them', async () => {
  await rolledBack(async (tx) => {
    const ids: string[] = [];
    for (let nth = 0; nth < 60; nth++) ids.push((await createPolicy(tx, { ...policyOf(`old ${nth}`, 'ALLOW'), rules: [] }, { by })).id);
    let reads = 0;
    const one = async <Row>(query: Query): Promise<Row | undefined> => {
      if (query === CURRENT_REVISION) await assignToRole(tx, { role: 'viewer', policyId: ids[reads++] ?? '' }, { by });
      return tx.one<Row>(query);
    };
    expect(await failure(loadAll(replaceMembers(tx, { one })))).toMatchObject({ code: 'STORAGE_BUSY' });
    // The first read finds the revision to load. Each load reads the revision before the state, after it, and after the policies that the state lacks.
    expect(reads).toBe(31);
  });
});
