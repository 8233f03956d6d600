/** Insertions whose dependencies can be looked up without locks, and those that may be sent with a commit that other units of work share. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WatchedFields } from '../../authz/policies/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Statement, Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertAfterLookups, insertRecord } from '../records.ts';
import { type RowInsertion, referencedBy } from '../row-writes.ts';
import { define, openTestDatabase, replaceMembers, resourceOf, type TestDatabase, toRecord } from '../storage.fixture.ts';
import { lookupsForInsertions } from './insertion-lookups.ts';

const definitions = define({
  Team: { fields: { name: { type: 'string' } } },
  Plan: {
    softDelete: true,
    fields: {
      title: { type: 'string', index: true },
      code: { type: 'string', unique: true },
      contact: { type: 'email', unique: true },
      number: { type: 'integer', unique: true },
      weight: { type: 'number', unique: true },
      team: { type: 'string' },
      year: { type: 'integer' },
      status: { type: 'string' },
      room: { type: 'string' },
      kind: { type: 'string', unique: true, default: 'usual' },
      teamId: { type: 'reference', to: 'Team' },
      secondId: { type: 'reference', to: 'Team' },
      teamIds: { type: 'list', of: { type: 'reference', to: 'Team' } },
    },
    indexes: [
      { fields: ['team', 'year'], unique: true },
      { fields: ['room'], unique: true, where: { status: 'active' } },
    ],
  },
  Sealed: { checksum: true, fields: { title: { type: 'string' } } },
  Wide: { fields: Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`f${at}`, { type: 'reference', to: 'Team' }])) },
});
let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, definitions);
  const taken = { code: 'taken', contact: 'taken@example.com', number: 7, team: 'red', year: 2025, kind: 'usual' };
  await test.database.transaction(async (tx) => {
    await insertRecord(tx, resourceOf(definitions, 'Team'), toRecord('red', {}));
    await insertRecord(tx, resourceOf(definitions, 'Plan'), toRecord('1', taken));
  });
});
afterAll(() => test.dispose());

interface Insertion {
  readonly values: JsonObject;
  /** The values as they are stored, if they differ. */
  readonly stored?: JsonObject;
  readonly watched?: WatchedFields;
}

/** Returns the insertion that a plan with these values leads to; undefined if it has to lock what it depends on. */
function insertionOf({ values, stored = values, watched }: Insertion): Promise<RowInsertion | undefined> {
  const resource = resourceOf(definitions, 'Plan');
  return test.database.transaction(async (tx) => {
    const lookups = lookupsForInsertions(replaceMembers(tx, { canBeOptimistic: true }), definitions, [{ resource, values }]);
    if (lookups === undefined) return undefined;
    let inserted: RowInsertion | undefined;
    const members: Partial<Transaction> = {
      watched: () => watched,
      addToWriteSet: () => undefined,
      insertRow: async (insertion) => {
        inserted = insertion;
      },
    };
    const found = lookups.read(await tx.oneOfEach(lookups.queries));
    await insertAfterLookups(replaceMembers(tx, members), resource, {
      record: toRecord('2', { kind: 'other', ...stored }),
      definitions,
      found,
    });
    return inserted;
  });
}

const lookupsOf = (name: string, values: JsonObject, canBeOptimistic = true): Promise<readonly Statement[] | undefined> =>
  test.database.transaction(async (tx) => {
    const record = { resource: resourceOf(definitions, name), values };
    return lookupsForInsertions(replaceMembers(tx, { canBeOptimistic }), definitions, [record])?.queries;
  });

const other = { kind: 'other' };

it.each<[string, boolean, Insertion]>([
  ['no unique value', true, { values: { ...other, title: 'a' } }],
  ['a free value', true, { values: { ...other, code: 'free', number: 8 } }],
  ['a taken text', false, { values: { ...other, code: 'taken' } }],
  ['a taken number', false, { values: { ...other, number: 7 } }],
  ['the same values of an index', false, { values: { ...other, team: 'red', year: 2025 } }],
  ['one other value of an index', true, { values: { ...other, team: 'red', year: 2026 } }],
  ['a part of the values of an index', true, { values: { ...other, team: 'red' } }],
  [
    'a value that is stored in another form',
    false,
    { values: { ...other, contact: 'FREE@example.com' }, stored: { contact: 'free@example.com' } },
  ],
  ['a default that is taken', false, { values: {}, stored: { kind: 'usual' } }],
  ['a default that is not looked up', false, { values: other, stored: { kind: 'unusual' } }],
  ['a value of a type that is not looked up', false, { values: { ...other, weight: 1.5 } }],
  ['a value of a partial index, which is not looked up', false, { values: { ...other, room: 'a', status: 'idle' } }],
  ['a value of the wrong type', false, { values: { ...other, code: 5 }, stored: { code: '5' } }],
  ['a long value, which is not looked up', false, { values: { ...other, code: 'x'.repeat(201) } }],
  ['values that are perhaps too long for an index', false, { values: { ...other, title: 'x'.repeat(800) } }],
  ['records that conditions read', false, { values: { ...other, title: 'a' }, watched: { links: [], isReferenced: true } }],
])('an insertion with %s may be deferred: %s', async (_, expected, insertion) => {
  expect((await insertionOf(insertion))?.isDeferrable ?? false).toBe(expected);
});

describe('the lookups of an insertion', () => {
  it.each<[string, number | undefined, string, JsonObject]>([
    ['a lookup for a unique default', 1, 'Plan', { title: 'a' }],
    ['a lookup for each reference', 3, 'Plan', { teamId: 'red', secondId: 'blue' }],
    ['at most eight lookups', 8, 'Wide', Object.fromEntries(Array.from({ length: 8 }, (__, at) => [`f${at}`, `team ${at}`]))],
    ['no lookup for null', 1, 'Plan', { teamId: null, code: null }],
    ['a lookup for each unique constraint', 4, 'Plan', { code: 'a', number: 1, team: 'b', year: 2 }],
    ['no lookups for text with NUL', undefined, 'Plan', { code: 'a\u0000' }],
    ['no lookups for a number beyond 2^53', undefined, 'Plan', { number: 2 ** 60 }],
    ['no lookups for a list of references', undefined, 'Plan', { teamIds: ['red'] }],
    ['no lookups for a reference that is no text', undefined, 'Plan', { teamId: 5 }],
    ['no lookups for a reference with NUL', undefined, 'Plan', { teamId: 'a\u0000' }],
    ['no lookups for a long reference', undefined, 'Plan', { teamId: 'x'.repeat(201) }],
    ['no lookups for records with checksums', undefined, 'Sealed', { title: 'a' }],
    [
      'no lookups if there would be more than eight',
      undefined,
      'Wide',
      Object.fromEntries(Array.from({ length: 9 }, (__, at) => [`f${at}`, `team ${at}`])),
    ],
  ])('the lookups of an insertion contain %s', async (_, count, resource, values) => {
    const queries = await lookupsOf(resource, values);
    expect(queries?.length).toBe(count);
    expect(queries?.flatMap(({ parameters }) => parameters).every((value) => typeof value === 'string') ?? true).toBe(true);
  });

  it('looks up only references in a transaction that cannot be optimistic', async () => {
    expect(await lookupsOf('Plan', { code: 'a', number: 2 ** 60, teamId: 'red' }, false)).toMatchObject([{ parameters: ['red'] }]);
  });

  it('names the records that the stored values reference', async () => {
    const [both, same, none] = await Promise.all(
      [{ teamId: 'red', secondId: 'blue' }, { teamId: 'red', secondId: 'red' }, { title: 'a' }].map((values) => insertionOf({ values })),
    );
    const idsOf = (insertion: RowInsertion | undefined): unknown =>
      insertion && referencedBy([insertion]).map(({ resource, ids }) => [resource.name, ids]);
    expect([both, same, none].map(idsOf)).toEqual([[['Team', ['red', 'blue']]], [['Team', ['red']]], [['Team', []]]]);
  });
});
