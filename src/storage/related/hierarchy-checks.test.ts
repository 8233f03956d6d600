import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { define, openTestDatabase, replaceMembers, resourceOf, type TestDatabase } from '../storage.fixture.ts';
import { validateMove } from './hierarchy-checks.ts';

const DEFINITIONS = define({
  Folder: { fields: { parentId: { type: 'reference', to: 'Folder', onDelete: 'restrict', hierarchy: true }, name: { type: 'string' } } },
});

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, DEFINITIONS);
});
afterAll(() => test.dispose());

it.each([
  ['a move', { parentId: 'f2' }, ['lock hierarchy Folder', 'search']],
  ['a move below itself', { parentId: 'f1' }, ['lock hierarchy Folder']],
  ['a change without a move', { parentId: 'top', name: 'new' }, []],
  ['a record that becomes one without a parent', { parentId: null }, []],
])('%s takes the lock of the hierarchy before it searches ancestors', async (_, values, expected) => {
  const steps: string[] = [];
  await test.database.transaction(async (tx) => {
    const observed: Partial<Transaction> = {
      lock: async (name) => void steps.push(`lock ${name}`),
      one: (query) => {
        steps.push('search');
        return tx.one(query);
      },
    };
    const before = { id: 'f1', version: 1, parentId: 'top' };
    await validateMove(replaceMembers(tx, observed), resourceOf(DEFINITIONS, 'Folder'), { before, values });
  });
  expect(steps).toEqual(expected);
});
