import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertRecord } from '../records.ts';
import { define, failure, openTestDatabase, resourceOf, type TestDatabase, toRecord } from '../storage.fixture.ts';
import {
  clearReferences,
  findDeletedTogether,
  findReferencesToClear,
  findReferencingIds,
  type ReferencingField,
} from './reference-searches.ts';

const listOf = (onDelete: string) => ({ type: 'list', of: { type: 'reference', to: 'Tag', onDelete } });
const definitions = define({
  Tag: { fields: { name: { type: 'string' } } },
  Page: { softDelete: true, fields: { tagIds: listOf('setNull') } },
});
const page = resourceOf(definitions, 'Page');
const PAGES = 32;
const DELETED = { deletedAt: '2026-01-02T00:00:00.000Z', deletedBy: 'ada' };
const tagIds: ReferencingField = {
  resource: page,
  field: page.fields.get('tagIds') as ReferencingField['field'],
  to: { resource: resourceOf(definitions, 'Tag'), ids: ['t1'] },
  onDelete: 'setNull',
};

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, definitions);
  await test.database.transaction(async (tx) => {
    for (let n = 0; n < PAGES; n++) await insertRecord(tx, page, toRecord(`other${n}`, { tagIds: ['t2'] }));
    for (let n = 0; n < PAGES; n++) await insertRecord(tx, page, toRecord(`deleted${n}`, { tagIds: ['t2'], ...DELETED }));
    await insertRecord(tx, page, toRecord('p1', { tagIds: ['t2', 't1'] }));
    await insertRecord(tx, page, toRecord('p2', { tagIds: ['t1'], ...DELETED }));
  });
});
afterAll(() => test.dispose());

const FIRST = { after: '', limit: 10 };
const searches: Readonly<Record<string, (tx: Transaction) => Promise<unknown>>> = {
  findReferencingIds: (tx) => findReferencingIds(tx, tagIds, FIRST),
  findReferencesToClear: async (tx) => (await findReferencesToClear(tx, tagIds)).ids,
  findDeletedTogether: async (tx) =>
    (await findDeletedTogether(tx, tagIds, { ...FIRST, record: toRecord('t1', DELETED) })).map(({ id }) => id),
};

describe('a search in a list of references', () => {
  it.each([
    ['findReferencingIds', ['p1']],
    ['findReferencesToClear', ['p1', 'p2']],
    ['findDeletedTogether', ['p2']],
  ])('%s finds the referencing records', async (name, expected) => {
    expect(await test.database.transaction(searches[name] as never)).toEqual(expected);
  });

  it.each(Object.keys(searches))('%s ends when the time of the request is up', async (name) => {
    const search = searches[name] as (tx: Transaction) => Promise<unknown>;
    const searching = test.database.transaction(
      (tx) => {
        tx.limitTime(0);
        return search(tx);
      },
      { beginsLong: true },
    );
    expect(await failure(searching)).toMatchObject({ code: 'REQUEST_BUDGET' });
  });

  it('clearReferences changes only the records that were found before', async () => {
    const failed = test.database.transaction(async (tx) => {
      const found = await findReferencesToClear(tx, tagIds);
      await insertRecord(tx, page, toRecord('p3', { tagIds: ['t1'] }));
      await clearReferences(tx, found);
      const left = await findReferencingIds(tx, tagIds, FIRST);
      throw new Error(`rolled back by the test: ${left}`);
    });
    expect(String(await failure(failed))).toContain('rolled back by the test: p3');
  });
});
