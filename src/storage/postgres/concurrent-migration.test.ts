/** Migrations and prunes that run while other transactions write. Changes that commit meanwhile are neither lost nor ignored. */

import { afterEach, beforeEach, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { article, type MigrationTest, openMigrationTest } from '../migrations/migration.fixture.ts';
import { pruneArchived } from '../migrations/prune-archived.ts';
import { deleteRecord, insertRecord, restoreRecord } from '../records.ts';
import { define, resourceOf, toRecord } from '../storage.fixture.ts';

let test: MigrationTest;
beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

/** Starts `other` after `write`, and commits when `other` waits for a lock of this transaction, or has ended without one. */
async function concurrently<T>(write: (tx: Transaction) => Promise<unknown>, other: () => Promise<T>): Promise<T> {
  const { other: running } = await test.database.transaction(async (tx) => {
    await write(tx);
    let hasEnded = false;
    const started = other();
    started
      .catch(() => undefined)
      .finally(() => {
        hasEnded = true;
      });
    while (!hasEnded && (await tx.one(WAITING)) === undefined) await tx.one(sql`SELECT pg_sleep(0.01)`);
    return { other: started };
  });
  return running;
}

// Not of pg_stat_activity, whose rows stay the same during a transaction.
const WAITING = sql`SELECT 1 FROM pg_locks WHERE NOT "granted" AND pg_backend_pid() = ANY (pg_blocking_pids("pid"))`;

const fields = { size: { type: 'string' } };

it('a value that is written while its field changes type is converted', async () => {
  await test.apply(fields);
  await test.insert(fields, { size: '1' });
  const { done } = await concurrently(
    (tx) => tx.run(sql`UPDATE "Article" SET "size" = '2'`),
    () => migrate(test.database, article({ size: { type: 'integer' } })),
  );
  expect([done.map(({ kind }) => kind), await test.rows('Article')]).toMatchObject([['convert'], [{ size: 2 }]]);
});

it('a duplicate that is written before a unique index is created stops the migration', async () => {
  await test.apply(fields);
  await test.insert(fields, { size: '1' });
  const insert = (tx: Transaction): Promise<void> => insertRecord(tx, resourceOf(article(fields), 'Article'), toRecord('x', { size: '1' }));
  const { plan } = await concurrently(insert, () => migrate(test.database, article({ size: { type: 'string', unique: true } })));
  expect(plan.held).toEqual(['Article']);
  expect(plan.steps.map(({ reason }) => reason)).toContainEqual(expect.stringContaining('several records have "1" (2)'));
});

it('a record that is restored during a prune stays, with the records that it references', async () => {
  const definitions = define({ Page: { softDelete: true, fields: { topId: { type: 'reference', to: 'Page' } } } });
  const page = resourceOf(definitions, 'Page');
  await migrate(test.database, definitions);
  await test.database.transaction(async (tx) => {
    await insertRecord(tx, page, toRecord('top', {}));
    await insertRecord(tx, page, toRecord('low', { topId: 'top' }));
    for (const id of ['low', 'top']) await deleteRecord(tx, page, { id });
    await tx.run(sql`UPDATE "Page" SET "deletedAt" = '2020-01-01T00:00:00.000Z'`);
  });
  await concurrently(
    (tx) => restoreRecord(tx, page, 'low'),
    () => pruneArchived(test.database, definitions, { actor: 'cli', deletedBefore: 30 }),
  );
  expect((await test.rows('Page')).map(({ id }) => id)).toEqual(['low', 'top']);
});
