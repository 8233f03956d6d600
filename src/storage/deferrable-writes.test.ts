/** Updates that may be sent with a commit that other units of work share: those that can neither wait for others nor be refused. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WatchedFields } from '../authz/policies/index.ts';
import type { JsonObject } from '../operators/index.ts';
import type { Transaction } from './contract.ts';
import { migrate } from './migrations/migrate.ts';
import { insertRecord, updateRecord } from './records.ts';
import { define, openTestDatabase, replaceMembers, resourceOf, type TestDatabase, toRecord } from './storage.fixture.ts';

const definitions = define({
  Plan: {
    fields: {
      title: { type: 'string', index: true },
      code: { type: 'string', unique: true },
      team: { type: 'string' },
      year: { type: 'integer' },
      status: { type: 'string' },
      room: { type: 'string' },
      place: { type: 'string' },
    },
    indexes: [
      { fields: ['team', 'year'], unique: true },
      { fields: ['title', 'place'] },
      { fields: ['room'], unique: true, where: { status: 'active' } },
    ],
  },
  Sealed: { checksum: true, fields: { title: { type: 'string' } } },
});
let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, definitions);
  await test.database.transaction(async (tx) => {
    for (const name of ['Plan', 'Sealed']) await insertRecord(tx, resourceOf(definitions, name), toRecord('1', {}));
  });
});
afterAll(() => test.dispose());

interface Changes {
  /** The changed record; absent if it has no other values than the changed ones. */
  readonly record?: JsonObject;
  readonly values?: Parameters<typeof updateRecord>[2]['values'];
  readonly cleared?: readonly string[];
  readonly watched?: WatchedFields;
}

/** Returns true if an update of a record may be deferred. */
function isDeferrable(resource: string, { values = {}, cleared = [], watched, record = values }: Changes): Promise<boolean | undefined> {
  return test.database.transaction(async (tx) => {
    let found: boolean | undefined;
    const members: Partial<Transaction> = {
      watched: () => watched,
      updateRow: async (_, options) => {
        found = options.isDeferrable;
        return true;
      },
    };
    await updateRecord(replaceMembers(tx, members), resourceOf(definitions, resource), {
      id: '1',
      version: 1,
      values,
      cleared,
      now: 0,
      unlocked: record,
    });
    return found;
  });
}

it.each<[string, boolean, string, Changes]>([
  ['a plain field', true, 'Plan', { values: { title: 'a' } }],
  ['no field', true, 'Plan', {}],
  ['a cleared field', true, 'Plan', { cleared: ['title'] }],
  ['a unique field', false, 'Plan', { values: { code: 'a' } }],
  ['a cleared unique field', false, 'Plan', { cleared: ['code'] }],
  ['a field of a unique index', false, 'Plan', { values: { year: 2026 } }],
  ['a field of the condition of a unique index', false, 'Plan', { values: { status: 'active' } }],
  ['a field of a resource that conditions read', false, 'Plan', { values: { title: 'a' }, watched: { links: [], isReferenced: true } }],
  ['values that an index can hold', true, 'Plan', { values: { title: 'a'.repeat(800) } }],
  ['a value that is perhaps too long for an index', false, 'Plan', { values: { title: 'a'.repeat(801) } }],
  [
    'a value that is perhaps too long for an index with another one',
    false,
    'Plan',
    { values: { title: 'a' }, record: { title: 'a', place: 'b'.repeat(800) } },
  ],
  ['a field of a record with a checksum', false, 'Sealed', { values: { title: 'a' } }],
])('a change of %s may be deferred: %s', async (_, expected, resource, changes) => {
  expect(await isDeferrable(resource, changes)).toBe(expected);
});
