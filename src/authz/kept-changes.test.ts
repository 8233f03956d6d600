/** Tests which snapshots a policy store keeps after transactions that change policies. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LIMITS } from '../../test/policy-fixtures.ts';
import { SYSTEM } from '../resources/system/index.ts';
import { createPolicy, migrate, type Transaction } from '../storage/index.ts';
import { openTestDatabase, type TestDatabase } from '../storage/storage.fixture.ts';
import type { Snapshot } from './load-snapshot.ts';
import { createPolicyStore } from './policy-store.ts';
import { type Prefetch, withRevisions } from './revisioned-database.ts';

const store = createPolicyStore(SYSTEM, { ...LIMITS, maxAssignments: 100 });
let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, SYSTEM, { holder: store });
});
afterAll(() => test.dispose());

let policies = 0;
const create = (tx: Transaction): Promise<unknown> =>
  createPolicy(tx, { name: `policy ${++policies}`, type: 'CUSTOM', isActive: true, priority: 1, tags: [], rules: [] }, { by: 'admin-1' });
const loadSnapshot = (): Promise<Snapshot> => test.database.transaction((tx) => store.snapshot(tx));

/** Changes policies in a transaction. Returns it, and the snapshot of the change. */
const change = () =>
  test.database.transaction(async (tx) => {
    await create(tx);
    return { tx, snapshot: await store.snapshotAfterChange(tx) };
  });

it('keeps the snapshot of a committed change', async () => {
  await loadSnapshot();
  const { tx, snapshot } = await change();
  store.keepChange(tx);
  expect(store.revision()).toBe(snapshot.revision.number);
  expect(await loadSnapshot()).toBe(snapshot);
});

it('does not replace a newer snapshot by that of a change', async () => {
  await loadSnapshot();
  const { tx } = await change();
  await test.database.transaction(create);
  const newer = await loadSnapshot();
  store.keepChange(tx);
  expect(await loadSnapshot()).toBe(newer);
});

it('sends a prefetch with the query of the revision when a transaction whose policies changed runs again', async () => {
  await loadSnapshot();
  const prefetched: number[] = [];
  let reads = 0;
  const prefetch: Prefetch = () => {
    prefetched.push(reads);
    return [];
  };
  const counted = {
    ...test.database,
    transaction: <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
      test.database.transaction(async (tx) => {
        await work(tx);
        // As after a commit that is refused because the revision was stale.
        return work(tx);
      }),
  };
  const pendingSnapshot = (tx: Transaction): Promise<Snapshot> => {
    reads++;
    return store.pendingSnapshot(tx);
  };
  const loads: Snapshot[] = [];
  const revisioned = withRevisions(counted, { ...store, pendingSnapshot });
  await revisioned.transactionAtRevision(prefetch, async ({ snapshot }) => void loads.push(snapshot));
  expect([prefetched, loads.length]).toEqual([[0, 0], 2]);
});
