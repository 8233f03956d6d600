/** Tables that follow, and are rid of what is deleted, while others write: what those commit in the midst of it is neither lost nor overlooked. */

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

/** Has `other` begin after `write`, and commits when that waits for it. */
async function beside<T>(write: (tx: Transaction) => Promise<unknown>, other: () => Promise<T>): Promise<T> {
  const { other: begun } = await test.database.transaction(async (tx) => {
    await write(tx);
    const goesOn = other();
    goesOn.catch(() => undefined);
    await tx.all(sql`SELECT pg_sleep(1)`);
    return { other: goesOn };
  });
  return begun;
}

const texts = { size: { type: 'string' } };

it('a value written while its type changes is the one that is converted', async () => {
  await test.apply(texts);
  await test.insert(texts, { size: '1' });
  const { done } = await beside(
    (tx) => tx.run(sql`UPDATE "Article" SET "size" = '2'`),
    () => migrate(test.database, article({ size: { type: 'integer' } })),
  );
  expect([done.map(({ kind }) => kind), await test.rows('Article')]).toMatchObject([['convert'], [{ size: 2 }]]);
});

it('a value that makes another no longer the only one is met before an index asks for that', async () => {
  await test.apply(texts);
  await test.insert(texts, { size: '1' });
  const insert = (tx: Transaction): Promise<void> => insertRecord(tx, resourceOf(article(texts), 'Article'), toRecord('x', { size: '1' }));
  const { plan } = await beside(insert, () => migrate(test.database, article({ size: { type: 'string', unique: true } })));
  expect(plan.held).toEqual(['Article']);
  expect(plan.steps.map(({ reason }) => reason)).toContainEqual(expect.stringContaining('several records have "1" (2)'));
});

it('a record that is restored while deleted ones are dropped stays, with what it refers to', async () => {
  const definitions = define({ Page: { softDelete: true, fields: { topId: { type: 'reference', to: 'Page' } } } });
  const page = resourceOf(definitions, 'Page');
  await migrate(test.database, definitions);
  await test.database.transaction(async (tx) => {
    await insertRecord(tx, page, toRecord('top', {}));
    await insertRecord(tx, page, toRecord('low', { topId: 'top' }));
    for (const id of ['low', 'top']) await deleteRecord(tx, page, { id });
    await tx.run(sql`UPDATE "Page" SET "deletedAt" = '2020-01-01T00:00:00.000Z'`);
  });
  await beside(
    (tx) => restoreRecord(tx, page, 'low'),
    () => pruneArchived(test.database, definitions, { actor: 'cli', deletedBefore: 30 }),
  );
  expect((await test.rows('Page')).map(({ id }) => id)).toEqual(['low', 'top']);
});
