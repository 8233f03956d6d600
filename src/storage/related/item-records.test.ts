import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScope } from '../../authz/context/index.ts';
import { type Condition, evaluate } from '../../conditions/index.ts';
import type { Json, JsonObject, Truth } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import { parseCondition } from '../condition.fixture.ts';
import { exactFilter } from '../lists/sql-target.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertRecord, loadRecord } from '../records.ts';
import { define, explain, openTestDatabase, resourceOf, type TestDatabase, toRecord } from '../storage.fixture.ts';
import { createRelatedStore, type RelatedStore } from './related-records.ts';

const listOf = (to: string): JsonObject => ({ type: 'list', of: { type: 'reference', to } });
const FIELDS: JsonObject = {
  name: { type: 'string' },
  code: { type: 'string', writeOnly: true },
  body: { type: 'text' },
  leadId: { type: 'reference', to: 'Lead' },
};
const DEFINITIONS = define({
  Lead: { fields: { name: { type: 'string' } } },
  Team: { softDelete: true, fields: FIELDS },
  Sealed: { checksum: true, fields: FIELDS },
  Document: { fields: { teamIds: listOf('Team'), sealedIds: listOf('Sealed') } },
});
const DOCUMENT = resourceOf(DEFINITIONS, 'Document');
const MANY = 120;

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, DEFINITIONS);
  await test.database.transaction(async (tx) => {
    await insertRecord(tx, resourceOf(DEFINITIONS, 'Lead'), toRecord('ann', { name: 'Ann' }));
    for (const id of ['news', 'deleted', ...Array.from({ length: MANY }, (_, index) => `t${index}`)])
      await insertRecord(tx, resourceOf(DEFINITIONS, 'Team'), toRecord(id, { name: id, code: 'hush', body: `about ${id}`, leadId: 'ann' }));
    await insertRecord(tx, resourceOf(DEFINITIONS, 'Sealed'), toRecord('news', { name: 'news' }));
    await tx.run(sql`UPDATE "Team" SET "deletedAt" = ${'2026-01-01T00:00:00.000Z'} WHERE "id" = ${'deleted'}`);
    const documents: Readonly<Record<string, JsonObject>> = {
      found: { teamIds: ['t1', 'news'], sealedIds: ['news'] },
      other: { teamIds: ['t1', 't1'] },
      deleted: { teamIds: ['t1', 'deleted'] },
      none: { teamIds: [] },
      missing: {},
      many: { teamIds: Array.from({ length: MANY }, (_, index) => `t${index}`) },
    };
    for (const [id, values] of Object.entries(documents)) await insertRecord(tx, DOCUMENT, toRecord(id, values));
  });
});
afterAll(() => test.dispose());

const parse = (condition: JsonObject, relatedRecords = 1000): Condition =>
  parseCondition({ definitions: DEFINITIONS, resource: 'Document', relatedRecords }, condition);
const is = (field: string, value: Json): JsonObject => ({ field: `resource.${field}`, operator: 'eq', value });

/** Evaluates a condition on a document in memory, and returns the store with what was read. */
function read(condition: Condition, id: string): Promise<{ readonly truth: Truth; readonly related: RelatedStore }> {
  return test.database.transaction(async (tx) => {
    const record = await loadRecord(tx, DOCUMENT, id);
    const related = createRelatedStore(tx, DEFINITIONS);
    const scope = createScope({
      principal: { role: 'user', attributes: {} },
      action: 'read',
      resource: DOCUMENT,
      record,
      origin: { method: '', path: '', ip: '' },
      now: 0,
      timeZone: 'UTC',
      definitions: DEFINITIONS,
      related,
    });
    return { truth: await related.evaluate(() => evaluate(condition, scope)), related };
  });
}

/** Returns the ids of the documents for which SQL finds the condition true; undefined if SQL cannot evaluate it. */
function inSql(condition: Condition): Promise<readonly string[] | undefined> {
  return test.database.transaction(async (tx) => {
    const filter = exactFilter(condition, DOCUMENT, { dialect: tx.dialect, now: 0, timeZone: 'UTC', definitions: DEFINITIONS });
    return filter && (await tx.all<{ id: string }>(sql`SELECT "id" FROM "Document" WHERE ${filter} ORDER BY "id"`)).map(({ id }) => id);
  });
}

describe('the records of a list', () => {
  const ids = ['deleted', 'found', 'many', 'missing', 'none', 'other'];
  it.each<readonly [string, JsonObject, number, readonly string[]]>([
    ['one has a value', is('teamIds.name', 'news'), 1000, ['found']],
    ['none has a value', { not: is('teamIds.name', 'news') }, 1000, ['many', 'none', 'other']],
    ['one has a value in a long field', is('teamIds.body', 'about news'), 1000, ['found']],
    [
      'conditions read different fields',
      { anyOf: [is('teamIds.name', 'x'), is('teamIds.body', 'about news'), is('teamIds.name', 'deleted')] },
      1000,
      ['found'],
    ],
    ['one refers to another record with a value', is('teamIds.leadId.name', 'Ann'), 1000, ['deleted', 'found', 'many', 'other']],
    ['there are as many as are read', is('teamIds.name', 't1'), MANY, ['deleted', 'found', 'many', 'other']],
    ['there are more', is('teamIds.name', 't1'), MANY - 1, ['deleted', 'found', 'other']],
    ['there are more, negated', { not: is('teamIds.name', 'x') }, MANY - 1, ['found', 'none', 'other']],
  ])('the records of a list are the same in memory and in SQL if %s', async (_, condition, limit, expected) => {
    const parsed = parse(condition, limit);
    const found: string[] = [];
    for (const id of ids) if ((await read(parsed, id)).truth === true) found.push(id);
    expect([found, await inSql(parsed)]).toEqual([expected, expected]);
  });

  it('records with checksums are compared in memory, where a damaged one has no values', async () => {
    const condition = parse(is('sealedIds.name', 'news'));
    expect([(await read(condition, 'found')).truth, await inSql(condition)]).toEqual([true, undefined]);
    await test.database.transaction((tx) => tx.run(sql`UPDATE "Sealed" SET "version" = 7`));
    expect((await read(condition, 'found')).truth).toBe(null);
  });

  it('an index finds the records for each row of a list', async () => {
    const plan = await test.database.transaction(async (tx) => {
      const filter = exactFilter(parse(is('teamIds.name', 'news')), DOCUMENT, {
        ...{ dialect: tx.dialect, now: 0, timeZone: 'UTC' },
        definitions: DEFINITIONS,
      });
      return (await explain(tx, sql`SELECT "id" FROM "Document" WHERE ${filter ?? sql`FALSE`}`)).join('\n');
    });
    expect(plan).toMatch(/SEARCH Team USING INDEX sqlite_autoindex_Team_1|Index (Only )?Scan using "?Team_pkey/);
    expect(plan).not.toMatch(/SCAN (Team|item)|Seq Scan on "Team"/);
  });

  it('the records of a list are kept for explanations, with the values that conditions read, and no more than 100 of them', async () => {
    const facts = async (condition: JsonObject, id: string): Promise<readonly (readonly [string, Json | undefined])[]> => [
      ...(await read(parse(condition), id)).related.facts({ resource: 'Document' }),
    ];
    expect(await facts(is('teamIds.leadId.name', 'x'), 'deleted')).toEqual([
      ['item Team "t1"', { id: 't1', values: { 'leadId.name': 'Ann' }, missing: [] }],
      ['item Team "deleted"', null],
    ]);
    expect(await facts({ anyOf: [is('teamIds.name', 'x'), is('teamIds.version', 9)] }, 'deleted')).toEqual([
      ['item Team "t1"', { id: 't1', values: { name: 't1', version: 1 }, missing: [] }],
      ['item Team "deleted"', null],
    ]);
    expect(await facts(is('teamIds.name', 'x'), 'many')).toHaveLength(100);
  });
});
