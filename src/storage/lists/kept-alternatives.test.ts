import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { all, any, type Condition } from '../../conditions/index.ts';
import { resolveSort } from '../../request/index.ts';
import type { Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { compare, define, openTestDatabase, resourceOf, type TestDatabase } from '../storage.fixture.ts';
import { compileList } from './compile-list.ts';
import { toOrder } from './cursor-pagination.ts';
import { alternativesOf } from './list-alternatives.ts';

const DEFINITIONS = define({
  Document: {
    fields: {
      owner: { type: 'string', index: true },
      team: { type: 'string', index: true },
      status: { type: 'string' },
      rank: { type: 'integer' },
    },
    indexes: [{ fields: ['owner', 'rank'] }, { fields: ['team', 'rank'] }],
  },
});
const DOCUMENT = resourceOf(DEFINITIONS, 'Document');
const MOMENT = { definitions: DEFINITIONS, existence: undefined, now: 0, timeZone: 'UTC' } as const;

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, DEFINITIONS);
});
afterAll(() => test.dispose());

/** The documents of an owner or a team, without those that have one of some statuses. */
function ofOwner(owner: string, statuses = 1): Condition {
  const others = Array.from({ length: statuses }, (_, index) => compare('status', 'ne', `s${index}`));
  return all([any([compare('owner', 'eq', owner), compare('team', 'eq', owner)]), ...others]);
}

const find = (tx: Transaction, condition: Condition, field = 'id'): ReturnType<typeof alternativesOf> => {
  const order = toOrder(DOCUMENT, resolveSort(DOCUMENT, [{ field, descending: false }]));
  return alternativesOf(compileList(tx, DOCUMENT, { condition, ...MOMENT }), { tx, resource: DOCUMENT, order, ...MOMENT });
};

describe('alternatives', () => {
  it('finds alternatives once for equal conditions in one order', async () => {
    await test.database.transaction(async (tx) => {
      const first = find(tx, ofOwner('a'));
      expect(first).toHaveLength(2);
      expect(find(tx, ofOwner('a'))).toBe(first);
      for (const other of [find(tx, ofOwner('b')), find(tx, ofOwner('a'), 'rank')]) {
        expect(other).toHaveLength(2);
        expect(other).not.toBe(first);
      }
    });
  });

  it('drops alternatives when further ones take 8 MB', async () => {
    await test.database.transaction(async (tx) => {
      const first = find(tx, ofOwner('first'));
      for (let count = 0; count < 30; count++) find(tx, ofOwner(`of few ${count}`));
      expect(find(tx, ofOwner('first'))).toBe(first);
      for (let count = 0; count < 110; count++) expect(find(tx, ofOwner(`of many ${count}`, 60))).toHaveLength(2);
      expect(find(tx, ofOwner('first'))).not.toBe(first);
    });
  });
});
