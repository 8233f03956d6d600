import { afterEach, beforeEach, expect, it } from 'vitest';
import { SetupError } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import { resourceOf } from '../storage.fixture.ts';
import { migrate } from './migrate.ts';
import { article, type Fields, type MigrationTest, openMigrationTest } from './migration.fixture.ts';

let test: MigrationTest;

beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

const BEFORE: Fields = { title: { type: 'string' }, size: { type: 'string' } };
const refusePending = (fields: Fields): ReturnType<typeof migrate> => migrate(test.database, article(fields), { pending: 'refuse' });

it('a migration that refuses pending steps creates the tables of a new database, and accepts the definitions in force', async () => {
  expect((await refusePending(BEFORE)).done).not.toEqual([]);
  expect((await refusePending(BEFORE)).done).toEqual([]);
});

it.each<[string, Fields, string]>([
  ['a removed field', { size: { type: 'string' } }, 'Article: Article.title is no longer defined; its column is archived'],
  ['a new field', { ...BEFORE, more: { type: 'string' } }, 'Article: Article.more is new'],
  [
    'a definition that changes no table',
    { ...BEFORE, title: { type: 'string', maxLength: 9 } },
    'Article: title: maxLength was not set, is 9',
  ],
])('a migration that refuses pending steps throws for %s, names it, and changes nothing', async (_change, fields, reason) => {
  await test.apply(BEFORE);
  const before = [await test.shapeOf('Article'), await test.revision()];
  const error = await refusePending(fields).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SetupError);
  expect((error as SetupError).mistakes[0]).toContain(reason);
  expect([await test.shapeOf('Article'), await test.revision()]).toEqual(before);
  expect((await refusePending(BEFORE)).done).toEqual([]);
});

it('a migration that refuses pending steps keeps a resource that a start would not migrate either, because values would be lost', async () => {
  await test.apply(BEFORE);
  await test.insert(BEFORE, { size: 'wide' });
  const { done, plan, definitions } = await refusePending({ ...BEFORE, size: { type: 'integer' } });
  expect([done, plan.held, definitions.get('Article')?.fields.get('size')?.type]).toEqual([[], ['Article'], 'string']);
});

it('a migration that refuses pending steps migrates system tables that are behind this version of the program', async () => {
  await test.apply(BEFORE);
  const former = resourceOf(article(BEFORE), '_Policy').source;
  const { description: _description, ...fields } = former['fields'] as JsonObject;
  await test.database.transaction(async (tx) => {
    await tx.run(sql`ALTER TABLE "_Policy" DROP COLUMN "description"`);
    await tx.run(
      sql`UPDATE "_Definition" SET "hash" = 'former', "source" = ${JSON.stringify({ ...former, fields })} WHERE "id" = '_Policy'`,
    );
    await tx.run(sql`UPDATE "_State" SET "text" = 'former' WHERE "id" = 'definitions'`);
  });
  const { done } = await refusePending(BEFORE);
  expect(done.map(({ resource, kind }) => [resource, kind])).toEqual([['_Policy', 'addColumn']]);
});
