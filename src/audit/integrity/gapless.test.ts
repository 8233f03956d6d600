/** Chains have no gaps and contain every committed entry, even if transactions fail or connections are lost. */

import { afterEach, beforeEach, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import type { Transaction } from '../../storage/index.ts';
import { onPostgres } from '../../storage/storage.fixture.ts';
import { appendAuditEntries, appendEntry } from '../index.ts';
import { openTestAuditLog, type TestAuditLog, testEntry } from './integrity.fixture.ts';

let auditLog: TestAuditLog;
beforeEach(async () => {
  auditLog = await openTestAuditLog();
});
afterEach(() => auditLog.dispose());

/** Appends entries, some in savepoints that are rolled back. Returns the number of entries that a commit keeps. */
async function work(tx: Transaction, number: number): Promise<number> {
  const fail = async (): Promise<void> => {
    appendEntry(tx, testEntry(number));
    throw new Error('undone');
  };
  if (number % 3 === 0) await tx.savepoint(fail).catch(() => undefined);
  appendAuditEntries(tx, [testEntry(number), testEntry(number + 1)]);
  if (number % 4 === 0) await tx.savepoint(fail).catch(() => undefined);
  if (number % 5 === 0) await fail();
  return 2;
}

async function settled(works: readonly Promise<number>[]): Promise<number> {
  const done = await Promise.allSettled(works);
  return done.reduce((sum, each) => sum + (each.status === 'fulfilled' ? each.value : 0), 0);
}

it('transactions and savepoints that are rolled back leave no gap in the chains', async () => {
  const works = Array.from({ length: 120 }, (_, number) => auditLog.database.transaction((tx) => work(tx, number)));
  const entries = await settled(works);
  await auditLog.checkpoint();
  expect(await auditLog.verify()).toMatchObject({ entries, breaks: [] });
  expect(entries).toBe(192);
});

it.runIf(onPostgres)('connections that are lost during a transaction and afterwards leave no gap in the chains', async () => {
  let entries = 0;
  for (let round = 0; round < 4; round++) {
    const works = Array.from({ length: 40 }, (_, number) =>
      auditLog.database.transaction(async (tx) => {
        // Takes a connection of its own.
        await tx.one(sql`select 1`);
        const left = await work(tx, number + 1);
        if (number % 8 === 7) await tx.all(sql`select pg_terminate_backend(pg_backend_pid())`);
        return left;
      }),
    );
    entries += await settled(works);
  }
  await auditLog.checkpoint();
  const { chains, ...found } = await auditLog.verify();
  expect(found).toMatchObject({ entries, breaks: [] });
  expect(chains).toBeGreaterThan(4);
});

it('a service whose next sequence number is taken continues in another chain', async () => {
  const append = (number: number) => auditLog.database.transaction(async (tx) => appendEntry(tx, testEntry(number)));
  await append(1);
  await auditLog.checkpoint();
  const [last] = await auditLog.rows();
  await auditLog.tamper(sql`
    insert into "_Decision" ("id", "at", "kind", "allowed", "writer", "sequence", "hash")
    select 'put', "at", "kind", "allowed", "writer", 2, "hash" from "_Decision" where "id" = ${last?.id}`);
  if (onPostgres) {
    // On PostgreSQL the unique index includes the time, so the service continues the chain next to the inserted entry.
    await append(2);
    expect((await auditLog.verify()).breaks).toMatchObject([{ kind: 'inserted', sequence: 2, id: 'put' }]);
    return;
  }
  await expect(append(2)).rejects.toThrow();
  await append(3);
  expect((await auditLog.verify()).breaks).toMatchObject([{ kind: 'edited', sequence: 2, id: 'put' }]);
});
