import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { migrate, planMigration } from '../migrations/migrate.ts';
import { blocked, kinds } from '../migrations/migration.fixture.ts';
import { insertRecord } from '../records.ts';
import { define, openTestDatabase, resourceOf, type TestDatabase, toRecord } from '../storage.fixture.ts';

let test: TestDatabase;

beforeEach(() => {
  test = openTestDatabase();
});
afterEach(() => test.dispose());

const long = { type: 'string', maxLength: 10_000 };
const notes = (fields: JsonObject, more: JsonObject = {}): Definitions => define({ Note: { fields, ...more } });

/** Creates notes with the ids 1, 2, …. */
async function populate(...records: readonly JsonObject[]): Promise<void> {
  const definitions = notes({ text: long, kind: { type: 'string' } });
  await migrate(test.database, definitions);
  const resource = resourceOf(definitions, 'Note');
  for (const [index, record] of records.entries())
    await test.database.transaction((tx) => insertRecord(tx, resource, toRecord(`${index + 1}`, record)));
}

describe('a new index on long values', () => {
  const random = randomBytes(4_800).toString('hex');
  const indexed = { text: { ...long, index: true }, kind: { type: 'string' } };

  it('a new index on values that are too long is blocked with its field and records, and other resources are migrated', async () => {
    await populate({ text: 'short' }, { text: random });
    const wanted = define({ Note: { fields: indexed }, Zed: { fields: { title: { type: 'string' } } } });
    const migrated = await migrate(test.database, wanted);
    const reason = expect.stringMatching(/^Note \(text\) cannot be indexed, .* \(the longest are those of the records 2\)/);
    expect(blocked(migrated)).toEqual([reason]);
    expect([migrated.plan.held, kinds(migrated)]).toEqual([['Note'], ['createTable']]);
    expect(await test.rows('Zed')).toEqual([]);
    expect((await planMigration(test.database, wanted)).steps).toMatchObject([{ kind: 'createIndex' }, { risk: 'blocked', ids: ['2'] }]);
  });

  it('a new index is created if the values are short enough when compressed', async () => {
    await populate({ text: 'a'.repeat(9_600) });
    expect((await migrate(test.database, notes(indexed))).plan.held).toEqual([]);
  });

  it('a partial index is created if only records outside of its condition have values that are too long', async () => {
    await populate({ text: random, kind: 'b' }, { text: 'a'.repeat(9_600), kind: 'a' });
    const partial = (kind: string): Definitions =>
      notes({ text: long, kind: { type: 'string' } }, { indexes: [{ fields: ['text'], where: { kind } }] });
    expect((await migrate(test.database, partial('b'))).plan.held).toEqual(['Note']);
    expect((await migrate(test.database, partial('a'))).plan.held).toEqual([]);
  });

  it('a new index is blocked if a default is too long', async () => {
    await populate({ kind: 'a' });
    const filled = { ...indexed, text: { ...indexed.text, required: true, default: random } };
    expect((await migrate(test.database, notes(filled))).plan.held).toEqual(['Note']);
  });
});
