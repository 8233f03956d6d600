import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { assignToRole } from '../policies/assignment-records.ts';
import { openPolicyDatabase, toPolicyInput } from '../policies/policy.fixture.ts';
import { createPolicy } from '../policies/policy-records.ts';
import { loadPolicyState } from '../policies/policy-state.ts';
import { openUrl } from '../storage.fixture.ts';

const PAGE_SIZE = 4096;
/** First byte of a page that holds entries of an index, and the position of their number in the page. */
const [INDEX_LEAF, ENTRIES_AT] = [0x0a, 3];

it.each(['sqlite_autoindex__Policy_1', 'ix__PolicyRule$policyId'])(
  'loads all policies of roles if the last entry of index %s is lost',
  async (index) => {
    const test = await openPolicyDatabase();
    for (const name of ['a', 'b', 'c']) await test.database.transaction((tx) => createAssigned(tx, name));
    const stored = await test.database.transaction(loadPolicyState);
    const root = await test.database.transaction((tx) =>
      tx.one<{ readonly rootpage: unknown }>(sql`SELECT rootpage FROM sqlite_schema WHERE name = ${index}`),
    );
    await test.database.close();
    removeLastEntry(test.path, Number(root?.rootpage) - 1);
    const damaged = openUrl(test.url);
    const state = await damaged.transaction(async (tx) => ({
      byIndex: (await tx.all(sql`SELECT "id" FROM "_Policy" WHERE "id" > '' ORDER BY "id"`)).length,
      ...(await loadPolicyState(tx)),
    }));
    await damaged.close();
    await test.dispose();
    expect(state.policies.toSorted(byName)).toEqual(stored.policies.toSorted(byName));
    expect([state.damaged, state.byIndex]).toEqual([undefined, index.includes('Rule') ? 3 : 2]);
  },
);

async function createAssigned(tx: Transaction, name: string): Promise<void> {
  const { id } = await createPolicy(tx, toPolicyInput(name), { by: 'admin-1' });
  await assignToRole(tx, { policyId: id, role: 'user' }, { by: 'admin-1' });
}

function removeLastEntry(path: string, page: number): void {
  const file = openSync(path, 'r+');
  const bytes = Buffer.alloc(PAGE_SIZE);
  readSync(file, bytes, 0, PAGE_SIZE, page * PAGE_SIZE);
  expect(bytes[0]).toBe(INDEX_LEAF);
  bytes.writeUInt16BE(bytes.readUInt16BE(ENTRIES_AT) - 1, ENTRIES_AT);
  writeSync(file, bytes, 0, PAGE_SIZE, page * PAGE_SIZE);
  closeSync(file);
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
