import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChain } from '../../test/chain.ts';
import { LIMITS as POLICY_LIMITS } from '../../test/policy-fixtures.ts';
import { type Definitions, parseDefinition, type Resource } from '../resources/index.ts';
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import {
  assignToRole,
  CURRENT_REVISION,
  createPolicy,
  type Database,
  insertRecord,
  loadRevision,
  migrate,
  type Query,
  removeAssignment,
  type Transaction,
  updateRecord,
} from '../storage/index.ts';
import { onPostgres, openTestDatabase, replaceMembers, type TestDatabase } from '../storage/storage.fixture.ts';
import type { Snapshot } from './load-snapshot.ts';
import { applicableRules } from './policies/index.ts';
import { createPolicyStore, type PolicyStoreOptions } from './policy-store.ts';
import { type Prefetch, withRevisions } from './revisioned-database.ts';

const by = 'admin-1';
const LIMITS: PolicyStoreOptions = { ...POLICY_LIMITS, maxAssignments: 1000 };
const store = createPolicyStore(SYSTEM, LIMITS);
let opened: TestDatabase;
let database: Database;
let policyId: string;

beforeAll(async () => {
  opened = openTestDatabase();
  database = opened.database;
  await migrate(database, SYSTEM, { holder: store });
  const policy = { name: 'any', type: 'ROLE_BASED', isActive: true, priority: 100, tags: [], rules: [] } as const;
  policyId = (await database.transaction((tx) => createPolicy(tx, policy, { by }))).id;
});
afterAll(() => opened.dispose());

const assign = (tx: Transaction, role: 'viewer' | 'editor' | 'moderator') => assignToRole(tx, { role, policyId }, { by });
const loadSnapshot = (): Promise<Snapshot> => database.transaction((tx) => store.snapshot(tx));
const hasRules = ({ policies }: Snapshot, role: string): boolean =>
  applicableRules(policies, { assignments: [], role, resource: 'User', action: 'read', now: 0 }).found;

/** Returns a handle that adds the time that is left at each statement to `remaining`. */
function observed(tx: Transaction, remaining: number[]): Transaction {
  return new Proxy({} as Transaction, {
    get(_, name: keyof Transaction) {
      const member: unknown = tx[name];
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (name === 'all') remaining.push(tx.remaining());
        return member.apply(tx, args);
      };
    },
  });
}

it('loads policies and assignments without the time limit of the request that is the first to need them', async () => {
  const own = createPolicyStore(SYSTEM, LIMITS);
  const remaining: number[] = [];
  await database.transaction(async (tx) => {
    const handle = observed(tx, remaining);
    const { assignments } = await own.snapshot(handle);
    await own.snapshotAfterChange(handle);
    const before = remaining.length;
    await assignments.of(handle, 'any user');
    expect([before > 0, remaining.length > before, new Set(remaining)]).toEqual([true, true, new Set([Number.POSITIVE_INFINITY])]);
    await assignments.ofEach(handle, ['any user']);
    expect(remaining.at(-1)).toBeLessThan(Number.POSITIVE_INFINITY);
  });
});

describe('the policy store', () => {
  // These tests build on each other.
  const it = createChain();
  it('compiles the policies of a revision once', async () => {
    expect(await loadSnapshot()).toBe(await loadSnapshot());
  });

  it('returns a change of policies in the same transaction', async () => {
    const before = await loadSnapshot();
    const within = await database.transaction(async (tx) => {
      await assign(tx, 'viewer');
      return store.snapshotAfterChange(tx);
    });
    expect([hasRules(before, 'viewer'), hasRules(within, 'viewer')]).toEqual([false, true]);
    expect((await loadSnapshot()).revision).toEqual(within.revision);
  });

  it('does not keep the snapshot of an uncommitted change', async () => {
    const before = await loadSnapshot();
    const rolledBack = database.transaction(async (tx) => {
      await assign(tx, 'viewer').catch(() => assign(tx, 'moderator'));
      await store.snapshotAfterChange(tx);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect(await loadSnapshot()).toBe(before);
  });

  it('keeps the snapshot when records that policies do not depend on change, such as users', async () => {
    const user = SYSTEM.get('User') as Resource;
    const at = '2026-01-01T00:00:00.000Z';
    const values = { name: 'Ann', email: 'ann@example.com', password: 'x', role: 'user', isActive: true };
    const before = await loadSnapshot();
    await database.transaction((tx) => insertRecord(tx, user, { id: 'u1', version: 1, createdAt: at, updatedAt: at, ...values }));
    const change = { id: 'u1', version: 1, values: { role: 'admin', isActive: false }, cleared: [], now: 0 };
    expect(await database.transaction((tx) => updateRecord(tx, user, change))).toBe(true);
    expect(await loadSnapshot()).toBe(before);
  });

  it('reuses unchanged policies, and has a new one when a role gets it', async () => {
    const before = await loadSnapshot();
    const another = { name: 'another', type: 'CUSTOM', isActive: true, priority: 1, tags: [], rules: [] } as const;
    const { id } = await database.transaction((tx) => createPolicy(tx, another, { by }));
    const created = await loadSnapshot();
    await database.transaction((tx) => assignToRole(tx, { role: 'user', policyId: id }, { by }));
    const after = await loadSnapshot();
    expect(after.policies.policies.get(policyId)).toBe(before.policies.policies.get(policyId));
    expect([before, created, after].map(({ policies }) => policies.policies.size)).toEqual([1, 1, 2]);
  });

  it('forgets a removed assignment', async () => {
    await database.transaction((tx) => removeAssignment(tx, { role: 'viewer', policyId }, { by }));
    expect(hasRules(await loadSnapshot(), 'viewer')).toBe(false);
  });

  it('distinguishes revisions of equal number after a rolled back transaction', async () => {
    const undone = database.transaction(async (tx) => {
      await assign(tx, 'editor');
      await store.snapshot(tx);
      throw new Error('rolled back');
    });
    await expect(undone).rejects.toThrow('rolled back');
    await database.transaction((tx) => assign(tx, 'viewer'));
    const made = await loadSnapshot();
    expect([hasRules(made, 'editor'), hasRules(made, 'viewer')]).toEqual([false, true]);
    await database.transaction((tx) => removeAssignment(tx, { role: 'viewer', policyId }, { by }));
  });

  it('distinguishes revisions of equal number after a rolled back savepoint', async () => {
    let discarded: Snapshot | undefined;
    const made = await database.transaction(async (tx) => {
      const halfway = tx.savepoint(async () => {
        await assign(tx, 'editor');
        discarded = await store.snapshot(tx);
        throw new Error('rolled back');
      });
      await expect(halfway).rejects.toThrow('rolled back');
      await assign(tx, 'moderator');
      return store.snapshotAfterChange(tx);
    });
    expect(discarded?.revision.number).toBe(made.revision.number);
    expect([hasRules(made, 'editor'), hasRules(made, 'moderator')]).toEqual([false, true]);
  });

  it('loads policies of one revision while others change them', async () => {
    store.replaceDefinitions(new Map(SYSTEM));
    const seen = await database.transaction(async (tx) => {
      let changed = false;
      const wrapped = replaceMembers(tx, {
        async all<Row>(query: Parameters<Transaction['all']>[0]): Promise<readonly Row[]> {
          const rows = await tx.all<Row>(query);
          if (!changed) {
            changed = true;
            await assign(tx, 'viewer');
          }
          return rows;
        },
      });
      return { snapshot: await store.snapshot(wrapped), now: await loadRevision(tx) };
    });
    expect([seen.snapshot.revision, hasRules(seen.snapshot, 'viewer')]).toEqual([seen.now, true]);
  });

  it('uses definitions that are replaced while it loads', async () => {
    await loadSnapshot();
    const next = new Map(SYSTEM);
    const seen = await database.transaction(async (tx) => {
      await removeAssignment(tx, { role: 'moderator', policyId }, { by });
      const wrapped = replaceMembers(tx, {
        async one<Row>(query: Parameters<Transaction['one']>[0]): Promise<Row | undefined> {
          const row = await tx.one<Row>(query);
          if ('sql' in query && query.sql.includes('definitions')) store.replaceDefinitions(next);
          return row;
        },
      });
      return store.snapshot(wrapped);
    });
    expect(seen.definitions).toBe(next);
  });

  it('compiles policies again after the definitions were replaced', async () => {
    const before = await loadSnapshot();
    store.replaceDefinitions(new Map(SYSTEM));
    expect(await loadSnapshot()).not.toBe(before);
  });
});

describe('definitions that another process applied', () => {
  const text = (name: string): Definitions => {
    const { resource } = parseDefinition({ name: 'Note', fields: { [name]: { type: 'string' } } });
    if (resource === undefined) throw new Error('no resource');
    return new Map([...SYSTEM, ['Note', resource]]);
  };
  const fieldsOf = (known: { readonly definitions: Definitions }): readonly string[] =>
    [...(known.definitions.get('Note')?.fields.keys() ?? [])].slice(5);

  it('definitions of another process apply to the next snapshot, and to every transaction of a withRevisions database before its work runs', async () => {
    const { database: other, dispose } = openTestDatabase();
    const ownStore = createPolicyStore(text('one'), LIMITS);
    await migrate(other, text('one'), { holder: ownStore });
    await other.transaction((tx) => ownStore.snapshot(tx));
    await migrate(other, text('two'));
    expect(fieldsOf(ownStore)).toEqual(['one']);
    expect(await withRevisions(other, ownStore).transaction(async () => fieldsOf(ownStore))).toEqual(['two']);
    expect(fieldsOf(await other.transaction((tx) => ownStore.snapshot(tx)))).toEqual(['two']);
    await dispose();
  });

  const columns = (fields: readonly string[]) => sql.join(fields.map((name) => sql.ref(name)));
  it.each([
    ['failed', (fields: readonly string[]) => sql`SELECT ${fields.join()} AS "found", ${columns(fields)} FROM (SELECT 1 AS "two") AS "t"`],
    ['succeeded', (fields: readonly string[]) => sql`SELECT ${fields.join()} AS "found"`],
  ])('definitions of another process make a prefetch run again that %s', async (_, toQuery) => {
    const { database: other, dispose } = openTestDatabase();
    const ownStore = createPolicyStore(text('one'), LIMITS);
    await migrate(other, text('one'), { holder: ownStore });
    await other.transaction((tx) => ownStore.snapshot(tx));
    await migrate(other, text('two'));
    const prefetches: (readonly string[])[] = [];
    const prefetch: Prefetch = (_tx, known) => {
      const fields = fieldsOf({ definitions: known });
      prefetches.push(fields);
      return [toQuery(fields)];
    };
    const run = (): Promise<unknown> =>
      withRevisions(other, ownStore).transactionAtRevision(prefetch, async ({ rows: [row] }) => row?.['found']);
    expect(await run()).toBe('two');
    expect([prefetches[0], prefetches.at(-1)]).toEqual([['one'], ['two']]);
    // On PostgreSQL, a failed statement ends the transaction, which runs again.
    expect(prefetches.length).toBeLessThanOrEqual(onPostgres ? 3 : 2);
    prefetches.length = 0;
    expect([await run(), prefetches]).toEqual(['two', [['two']]]);
    await dispose();
  });
});

describe('a prefetch', () => {
  it('a prefetch is sent with the query of the revision, behind it', async () => {
    const sent: (readonly (Query | undefined)[])[] = [];
    const logged: Database = {
      ...database,
      transaction: (work) =>
        database.transaction((tx) => {
          const oneOfEach: Transaction['oneOfEach'] = (queries) => {
            sent.push(queries);
            return tx.oneOfEach(queries);
          };
          return work(replaceMembers(tx, { oneOfEach }));
        }),
    };
    const query = sql`SELECT 1 AS "found"`;
    const run = withRevisions(logged, store).transactionAtRevision(
      () => [undefined, query],
      async ({ rows }) => rows,
    );
    expect([await run, sent]).toEqual([[undefined, { found: 1 }], [[CURRENT_REVISION, undefined, query]]]);
  });

  it('a prefetch that fails rejects the transaction', async () => {
    const refused = withRevisions(database, store).transactionAtRevision(
      () => [sql`SELECT "missing"."id" FROM "missing"`],
      async () => 'done',
    );
    await expect(refused).rejects.toThrow();
  });
});
