import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS as POLICY_LIMITS } from '../../test/policy-fixtures.ts';
import { type Definitions, parseDefinition, type Resource } from '../resources/index.ts';
import { SYSTEM } from '../resources/system/index.ts';
import {
  assignToRole,
  createPolicy,
  type Database,
  insertRecord,
  loadRevision,
  migrate,
  removeAssignment,
  type Transaction,
  updateRecord,
} from '../storage/index.ts';
import { openTestDatabase, type TestDatabase } from '../storage/storage.fixture.ts';
import { applicableRules } from './policies/index.ts';
import { createPolicyStore, type PolicyStoreOptions, type Snapshot, withRevisions } from './policy-store.ts';

const by = 'admin-1';
const LIMITS: PolicyStoreOptions = { ...POLICY_LIMITS, grants: 1000 };
const keeper = createPolicyStore(SYSTEM, LIMITS);
let opened: TestDatabase;
let database: Database;
let policyId: string;

beforeAll(async () => {
  opened = openTestDatabase();
  database = opened.database;
  await migrate(database, SYSTEM, { holder: keeper });
  const policy = { name: 'any', type: 'ROLE_BASED', isActive: true, priority: 100, tags: [], rules: [] } as const;
  policyId = (await database.transaction((tx) => createPolicy(tx, policy, { by }))).id;
});
afterAll(() => opened.dispose());

const assign = (tx: Transaction, role: 'viewer' | 'editor' | 'moderator') => assignToRole(tx, { role, policyId }, { by });
const model = (): Promise<Snapshot> => database.transaction((tx) => keeper.snapshot(tx));
const knows = ({ policies }: Snapshot, role: string): boolean =>
  applicableRules(policies, { grants: [], role, resource: 'User', action: 'read', now: 0 }).found;

describe('the model', () => {
  it('is compiled once for an epoch', async () => {
    expect(await model()).toBe(await model());
  });

  it('knows a change from the moment it is made, in the same transaction', async () => {
    const before = await model();
    const within = await database.transaction(async (tx) => {
      await assign(tx, 'viewer');
      return keeper.snapshotAfterChange(tx);
    });
    expect([knows(before, 'viewer'), knows(within, 'viewer')]).toEqual([false, true]);
    expect((await model()).revision).toEqual(within.revision);
  });

  it('that a change of its own comes to is not kept, for the change may be undone', async () => {
    const before = await model();
    const undone = database.transaction(async (tx) => {
      await assign(tx, 'viewer').catch(() => assign(tx, 'moderator'));
      await keeper.snapshotAfterChange(tx);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await model()).toBe(before);
  });

  it('stays where nothing is changed that it depends on, such as who a user is', async () => {
    const user = SYSTEM.get('User') as Resource;
    const at = '2026-01-01T00:00:00.000Z';
    const values = { name: 'Ann', email: 'ann@example.com', password: 'x', role: 'user', isActive: true };
    const before = await model();
    await database.transaction((tx) => insertRecord(tx, user, { id: 'u1', version: 1, createdAt: at, updatedAt: at, ...values }));
    const change = { id: 'u1', version: 1, values: { role: 'admin', isActive: false }, cleared: [], now: 0 };
    expect(await database.transaction((tx) => updateRecord(tx, user, change))).toBe(true);
    expect(await model()).toBe(before);
  });

  it('takes over what was not changed', async () => {
    const before = await model();
    const name = 'another';
    await database.transaction((tx) =>
      createPolicy(tx, { name, type: 'CUSTOM', isActive: true, priority: 1, tags: [], rules: [] }, { by }),
    );
    const after = await model();
    expect(after.policies.policies.get(policyId)).toBe(before.policies.policies.get(policyId));
    expect([before, after].map(({ policies }) => policies.policies.size)).toEqual([1, 2]);
  });

  it('forgets what is taken away', async () => {
    await database.transaction((tx) => removeAssignment(tx, { role: 'viewer', policyId }, { by }));
    expect(knows(await model(), 'viewer')).toBe(false);
  });

  it('of a change that was undone does not pass for that of the next, which has its number', async () => {
    let undone: Snapshot | undefined;
    const made = await database.transaction(async (tx) => {
      const halfway = tx.savepoint(async () => {
        await assign(tx, 'editor');
        undone = await keeper.snapshot(tx);
        throw new Error('undone');
      });
      await expect(halfway).rejects.toThrow('undone');
      await assign(tx, 'moderator');
      return keeper.snapshotAfterChange(tx);
    });
    expect(undone?.revision.number).toBe(made.revision.number);
    expect([knows(made, 'editor'), knows(made, 'moderator')]).toEqual([false, true]);
  });

  it('is of one epoch, whatever others change while it is read', async () => {
    keeper.replaceDefinitions(new Map(SYSTEM));
    const seen = await database.transaction(async (tx) => {
      let changed = false;
      const beside: Transaction = {
        ...tx,
        async all<Row>(query: Parameters<Transaction['all']>[0]): Promise<readonly Row[]> {
          const rows = await tx.all<Row>(query);
          if (!changed) {
            changed = true;
            await assign(tx, 'viewer');
          }
          return rows;
        },
      };
      return { model: await keeper.snapshot(beside), now: await loadRevision(tx) };
    });
    expect([seen.model.revision, knows(seen.model, 'viewer')]).toEqual([seen.now, true]);
  });

  it('is of the definitions that are put in force while it is read', async () => {
    await model();
    const next = new Map(SYSTEM);
    const seen = await database.transaction(async (tx) => {
      await removeAssignment(tx, { role: 'moderator', policyId }, { by });
      const beside: Transaction = {
        ...tx,
        async one<Row>(query: Parameters<Transaction['one']>[0]): Promise<Row | undefined> {
          const row = await tx.one<Row>(query);
          if ('sql' in query && query.sql.includes('definitions')) keeper.replaceDefinitions(next);
          return row;
        },
      };
      return keeper.snapshot(beside);
    });
    expect(seen.definitions).toBe(next);
  });

  it('is another once definitions are', async () => {
    const before = await model();
    keeper.replaceDefinitions(new Map(SYSTEM));
    expect(await model()).not.toBe(before);
  });
});

describe('definitions that another process put in force', () => {
  const text = (name: string): Definitions => {
    const { resource } = parseDefinition({ name: 'Note', fields: { [name]: { type: 'string' } } });
    if (resource === undefined) throw new Error('no resource');
    return new Map([...SYSTEM, ['Note', resource]]);
  };
  const fieldsOf = (known: { readonly definitions: Definitions }): readonly string[] =>
    [...(known.definitions.get('Note')?.fields.keys() ?? [])].slice(5);

  it('are those of the next model, and of every transaction of a withRevisions database before it begins', async () => {
    const { database: other, dispose } = openTestDatabase();
    const mine = createPolicyStore(text('one'), LIMITS);
    await migrate(other, text('one'), { holder: mine });
    await other.transaction((tx) => mine.snapshot(tx));
    await migrate(other, text('two'));
    expect(fieldsOf(mine)).toEqual(['one']);
    expect(await withRevisions(other, mine).transaction(async () => fieldsOf(mine))).toEqual(['two']);
    expect(fieldsOf(await other.transaction((tx) => mine.snapshot(tx)))).toEqual(['two']);
    await dispose();
  });

  it('have what was asked under those before asked again, whatever became of it', async () => {
    const { database: other, dispose } = openTestDatabase();
    const mine = createPolicyStore(text('one'), LIMITS);
    await migrate(other, text('one'), { holder: mine });
    await other.transaction((tx) => mine.snapshot(tx));
    await migrate(other, text('two'));
    const asked: (readonly string[])[] = [];
    const ahead = async (): Promise<readonly string[]> => {
      asked.push(fieldsOf(mine));
      if (asked.length === 1) throw new Error('no such column');
      return fieldsOf(mine);
    };
    const again = (): Promise<readonly string[]> => withRevisions(other, mine).transactionAtRevision(ahead, async ({ data }) => data);
    expect([await again(), asked]).toEqual([['two'], [['one'], ['two']]]);
    expect([await again(), asked]).toEqual([['two'], [['one'], ['two'], ['two']]]);
    await dispose();
  });
});

describe('what is asked ahead', () => {
  it('is asked behind the epoch, and before that is answered', async () => {
    const order: string[] = [];
    const told: Database = {
      ...database,
      transaction: (work) => database.transaction((tx) => work({ ...tx, one: (query) => note(order, 'epoch', () => tx.one(query)) })),
    };
    const ahead = (): Promise<void> => note(order, 'ahead', async () => undefined);
    await withRevisions(told, keeper).transactionAtRevision(ahead, async () => void order.push('work'));
    expect(order.slice(0, 2)).toEqual(['epoch asked', 'ahead asked']);
    expect(order.at(-1)).toBe('work');
  });

  it('and refused ends the work', async () => {
    const refused = withRevisions(database, keeper).transactionAtRevision(
      () => Promise.reject(new Error('nobody')),
      async () => 'done',
    );
    await expect(refused).rejects.toThrow('nobody');
  });
});

async function note<T>(order: string[], what: string, work: () => Promise<T>): Promise<T> {
  order.push(`${what} asked`);
  const answer = await work();
  order.push(`${what} told`);
  return answer;
}
