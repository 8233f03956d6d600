import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Transaction } from './contract.ts';
import { migrate } from './migrations/migrate.ts';
import { deleteView, deleteViewsOf, savedViewsOf, versionToChange, writeView } from './saved-views.ts';
import { define, openTestDatabase, type TestDatabase } from './storage.fixture.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, define({}));
});
afterAll(() => test.dispose());

const run = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => test.database.transaction(work);
const view = (version: number) => ({
  screen: 'decisions',
  query: { where: [1, null, 'ä'] },
  version,
  updatedAt: '2026-03-02T10:00:00.000Z',
});

it('a view is inserted, replaced and deleted by user and name', async () => {
  const key = { userId: 'ann', name: 'one' };
  expect(await run((tx) => versionToChange(tx, key))).toBeUndefined();
  for (const version of [1, 2]) await run((tx) => writeView(tx, key, view(version)));
  expect(await run((tx) => versionToChange(tx, key))).toBe(2);
  expect(await run((tx) => savedViewsOf(tx, 'ann'))).toEqual([{ name: 'one', ...view(2) }]);
  await run((tx) => deleteView(tx, key));
  expect(await run((tx) => savedViewsOf(tx, 'ann'))).toEqual([]);
});

it('keys whose parts are joined alike are different views', async () => {
  for (const [userId, name] of [
    ['a', 'b c'],
    ['a b', 'c'],
  ] as const)
    await run((tx) => writeView(tx, { userId, name }, view(1)));
  expect((await run((tx) => savedViewsOf(tx, 'a'))).map(({ name }) => name)).toEqual(['b c']);
  await run((tx) => deleteViewsOf(tx, 'a'));
  expect(await run((tx) => savedViewsOf(tx, 'a'))).toEqual([]);
  expect(await run((tx) => savedViewsOf(tx, 'a b'))).toHaveLength(1);
});
