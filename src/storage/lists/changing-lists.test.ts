/** Lists of alternatives between random changes: the first page has the same records with kept statements as without. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { databaseCasesOf } from '../../../test/budget.ts';
import { any } from '../../conditions/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { resolveSort } from '../../request/index.ts';
import { sql } from '../../sql.ts';
import { parseCondition } from '../condition.fixture.ts';
import type { Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertRecord } from '../records.ts';
import {
  compare,
  define,
  emptyTables,
  openTestDatabase,
  replaceMembers,
  resourceOf,
  scopesOf,
  type TestDatabase,
  testBudget,
  toRecord,
} from '../storage.fixture.ts';
import type { ListQuery } from './list-query.ts';
import { listRecords } from './record-lists.ts';

const DEFINITIONS = define({
  Note: {
    fields: { owner: { type: 'string', index: true }, team: { type: 'string', index: true }, rank: { type: 'integer' } },
    indexes: [{ fields: ['owner', 'rank'] }, { fields: ['team', 'rank'] }],
  },
  Event: {
    fields: {
      owner: { type: 'string', index: true },
      team: { type: 'string', index: true },
      rank: { type: 'integer', required: true },
      day: { type: 'date' },
    },
    indexes: ['rank', 'day'].flatMap((field) => [{ fields: ['owner', field] }, { fields: ['team', field] }]),
  },
  Membership: { fields: { user: { type: 'string' }, team: { type: 'string' } }, indexes: [{ fields: ['user', 'team'] }] },
});
const NOTE = resourceOf(DEFINITIONS, 'Note');
const MEMBERSHIP = resourceOf(DEFINITIONS, 'Membership');

const related = { resource: 'Membership', as: 'm', on: { user: 'ann', team: '${resource.team}' } };
const AS_MEMBER = parseCondition({ definitions: DEFINITIONS, resource: 'Note' }, { related });
const OWN = compare('owner', 'eq', 'o1');

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, DEFINITIONS);
});
afterAll(() => test.dispose());

const SORTS = (['id', 'rank'] as const).flatMap((field) =>
  [false, true].map((descending) => (field === 'id' && !descending ? [] : resolveSort(NOTE, [{ field, descending }]))),
);
const QUERIES = [AS_MEMBER, any([OWN, AS_MEMBER]), any([OWN, compare('team', 'eq', 't2')])].flatMap((where) =>
  SORTS.map((sort) => ({ where, sort })),
);

/** A change: inserts a note at a place of the list, changes or deletes one, or adds or ends a membership. */
const change = fc.record({
  kind: fc.constantFrom('insert', 'insert', 'insert', 'move', 'delete', 'join', 'leave'),
  place: fc.integer({ min: 0, max: 30 }),
  values: fc.record({
    owner: fc.constantFrom('o1', 'o2'),
    team: fc.constantFrom('t1', 't2', 't3'),
    rank: fc.constantFrom(null, 1, 2),
  }),
});
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

const toId = (place: number): string => `n${String(place).padStart(2, '0')}`;

async function apply(tx: Transaction, { kind, place, values: { owner, team, rank } }: Change): Promise<void> {
  const id = toId(place);
  const record: JsonObject = { owner, team, ...(rank !== null && { rank }) };
  if (kind === 'join') await insertRecord(tx, MEMBERSHIP, toRecord(`m${place}-${performance.now()}`, { user: 'ann', team }));
  else if (kind === 'leave') await tx.run(sql`DELETE FROM "Membership" WHERE "team" = ${team}`);
  else if (kind === 'move') await tx.run(sql`UPDATE "Note" SET "owner" = ${owner}, "team" = ${team}, "rank" = ${rank} WHERE "id" = ${id}`);
  else {
    await tx.run(sql`DELETE FROM "Note" WHERE "id" = ${id}`);
    if (kind === 'insert') await insertRecord(tx, NOTE, toRecord(id, record));
  }
}

/** Lists the first page; returns the ids of its records and the number of statements that loaded it. */
async function list(
  tx: Transaction,
  query: Partial<ListQuery>,
  resource = NOTE,
): Promise<{ readonly ids: readonly string[]; readonly statements: number }> {
  let statements = 0;
  const counting = replaceMembers(tx, {
    all: (statement) => {
      statements++;
      return tx.all(statement);
    },
  });
  const page = {
    scopeFor: scopesOf(resource),
    where: OWN,
    sort: [],
    now: 0,
    timeZone: 'UTC',
    definitions: DEFINITIONS,
    limit: 3,
    budget: testBudget(),
  };
  const { records } = await listRecords(counting, resource, { ...page, ...query });
  return { ids: records.map(({ id }) => id), statements };
}

it('lists the same records with kept statements as without, between changes', async () => {
  let repeated = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 30, maxLength: 60 }), fc.constantFrom(...QUERIES), async (changes, query) => {
      await emptyTables(test, 'Note', 'Membership');
      for (const each of changes) {
        await test.database.transaction(async (tx) => {
          await apply(tx, each);
          const [expected, found] = [await list(tx, { ...query, isIndexed: true }), await list(tx, query)];
          expect(found.ids).toEqual(expected.ids);
          if (found.statements > expected.statements) repeated++;
        });
      }
    }),
    { numRuns: databaseCasesOf(30, { postgres: 10 }) },
  );
  expect(repeated).toBeGreaterThan(0);
});

it('lists rows that were written without the service with kept statements as without', async () => {
  const event = resourceOf(DEFINITIONS, 'Event');
  const listed = async (field: string, descending: boolean): Promise<void> => {
    const query = { where: any([OWN, compare('team', 'eq', 't1')]), sort: resolveSort(event, [{ field, descending }]), limit: 2 };
    await test.database.transaction(async (tx) => {
      const [expected, found] = [await list(tx, { ...query, isIndexed: true }, event), await list(tx, query, event)];
      expect(found.ids).toEqual(expected.ids);
    });
  };
  const insert = (id: string, rank: number | null): Promise<unknown> =>
    test.database.transaction((tx) =>
      tx.run(sql`INSERT INTO "Event" ("id", "version", "createdAt", "updatedAt", "owner", "rank", "day")
        VALUES (${id}, 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 'o1', ${rank}, '2026-1-9')`),
    );
  for (const [id, rank] of [
    ['a', 1],
    ['b', 2],
    ['c', 3],
    ['d', null],
  ] as const)
    await insert(id, rank);
  // In ascending order, the row without its required rank comes first.
  await listed('rank', false);
  for (const id of ['x', 'y']) await insert(id, 0);
  for (let count = 0; count < 3; count++) await listed('rank', false);
  // The value of the end is no date.
  for (let count = 0; count < 3; count++) await listed('day', true);
});
