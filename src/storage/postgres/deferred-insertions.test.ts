/** Insertions that are sent with the commit of their units of work: their references and unique values are looked up without locks. */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import { ConstraintError, type Database, type Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertAfterLookups, insertRecord, updateRecord } from '../records.ts';
import { define, failure, resourceOf, toRecord } from '../storage.fixture.ts';
import { type Creation, createRecord } from './creation.fixture.ts';
import { LOG, openFamily, whileOpen } from './postgres.fixture.ts';

const { open, runSql, close } = openFamily('storage_postgres_insertions');
const definitions = define({
  Team: { softDelete: true, fields: { name: { type: 'string' } } },
  Member: {
    fields: {
      name: { type: 'string', unique: true },
      teamId: { type: 'reference', to: 'Team' },
      otherTeamId: { type: 'reference', to: 'Team' },
      note: { type: 'text' },
    },
  },
  // The statements of deferred writes name their parts alike.
  inserted: { fields: { teamId: { type: 'reference', to: 'inserted' } } },
  row: { fields: { name: { type: 'string' } } },
});
const member = resourceOf(definitions, 'Member');

let database: Database;
beforeAll(async () => {
  // Long, so that a commit that waits for a lock would not end before the test, and that no attempt ends on a slow machine.
  database = await open({ connections: 8, lockTimeout: 60_000, shortAttempt: 30_000 });
  await migrate(database, definitions);
  await runSql('CREATE TABLE "Log" ("id" TEXT COLLATE "C" PRIMARY KEY)');
});
afterAll(() => close(database));
beforeEach(async () => {
  await runSql('DELETE FROM "Log"; DELETE FROM "Member"; DELETE FROM "Team"; DELETE FROM "inserted"; DELETE FROM "row"');
  await database.transaction(async (tx) => {
    for (const id of ['red', 'blue', 'green']) await insertRecord(tx, resourceOf(definitions, 'Team'), toRecord(id, { name: id }));
  });
});

let entries = 0;

/** Creates a record with an entry in the log. Returns the number of runs. */
function create(id: string, values: JsonObject, { looked, resource = member }: Partial<Creation> = {}): Promise<number> {
  return createRecord(database, { definitions, resource, id, values, looked, append: (tx) => tx.append(LOG, [`entry ${++entries}`]) });
}

/** Creates records with one commit: none goes on before the lookups of all are done, and `looked` after these. Returns the runs or the error of each. */
async function createTogether(all: readonly JsonObject[], looked?: () => Promise<unknown>): Promise<readonly unknown[]> {
  const allLooked = Promise.withResolvers<unknown>();
  let waiting = all.length;
  const awaitAll = (): Promise<unknown> => {
    if (--waiting === 0) allLooked.resolve(looked?.());
    return allLooked.promise;
  };
  return Promise.all(all.map((values, at) => create(`m${at}`, values, { looked: awaitAll }).catch((error: unknown) => error)));
}

const countOf = async (query: string): Promise<number> => (await runSql(`SELECT count(*)::int AS "n" FROM ${query}`)).rows[0].n;

/** Commits entries of other units of work; resolves when all of them are committed. */
const appendOthers = (): Promise<unknown> =>
  Promise.all(Array.from({ length: 20 }, () => database.transaction(async (tx) => tx.append(LOG, [`entry ${++entries}`]))));

describe('deferred insertions', () => {
  it('inserts values of the maximum length for its indexes', async () => {
    // Characters of three bytes, which cannot be compressed much.
    const name = Array.from({ length: 800 - 2 * 'red'.length - 'm'.length }, (_, at) =>
      String.fromCharCode(0x4e00 + ((at * 7919) % 20_000)),
    ).join('');
    expect(await create('m', { name, teamId: 'red', otherTeamId: 'red' })).toBe(1);
    expect(await countOf(`"Member" WHERE octet_length("name") > 2300`)).toBe(1);
  });

  it('commits insertions together, each with its entry', async () => {
    const runs = await Promise.all(Array.from({ length: 60 }, (_, at) => create(`m${at}`, { name: `name ${at}`, teamId: 'red' })));
    expect(new Set(runs)).toEqual(new Set([1]));
    expect([await countOf('"Member"'), await countOf('"Log"')]).toEqual([60, 60]);
    expect(await countOf('(SELECT DISTINCT "xmin"::text FROM "Member") AS "commits"')).toBeLessThan(30);
  });

  it('takes part in a commit with other insertions only if its references and unique values are valid', async () => {
    const values = (at: number): JsonObject => ({ name: at === 3 ? 'taken' : `name ${at}`, teamId: at === 5 ? 'none' : 'red' });
    await create('first', { name: 'taken' });
    const errors = await Promise.all(Array.from({ length: 10 }, (_, at) => failure(create(`m${at}`, values(at)))));
    expect(errors.map((error) => (error instanceof ConstraintError ? error.constraint : error instanceof Problem && error.code))).toEqual(
      errors.map((_, at) => (at === 3 ? 'unique' : at === 5 && 'VALUE_INVALID')),
    );
    expect([await countOf('"Member"'), await countOf('"Log"')]).toEqual([9, 9]);
  });

  it.each<[string, JsonObject, string]>([
    ['is deleted', { teamId: 'red' }, `DELETE FROM "Team" WHERE "id" = 'red'`],
    ['is soft-deleted', { teamId: 'red' }, `UPDATE "Team" SET "deletedAt" = 'now' WHERE "id" = 'red'`],
    ['of two is deleted', { teamId: 'red', otherTeamId: 'blue' }, `DELETE FROM "Team" WHERE "id" = 'blue'`],
  ])('refuses an insertion if a referenced record %s after the lookups', async (_, values, change) => {
    const [error] = await Promise.all([
      failure(create('m', values, { looked: () => runSql(change) })),
      create('other', { teamId: 'green' }),
    ]);
    expect(error).toMatchObject({ code: 'VALUE_INVALID' });
    expect((await runSql('SELECT "id" FROM "Member"')).rows).toEqual([{ id: 'other' }]);
  });

  it('refuses an insertion whose unique value is taken after the lookups, and no other insertion runs again for it', async () => {
    const names = ['ann', 'bob', 'cid', 'dan', 'eve'];
    const [refused, ...runs] = await createTogether(
      names.map((name) => ({ name })),
      () => create('first', { name: 'ann' }),
    );
    expect(refused).toMatchObject({ constraint: 'unique', columns: ['name'] });
    expect(runs).toEqual([1, 1, 1, 1]);
    expect([await countOf('"Member"'), await countOf('"Log"')]).toEqual([5, 5]);
  });

  it('runs no other insertion again because a referenced record is locked', async () => {
    const settled = await whileOpen(
      database,
      (tx) => tx.run(sql`DELETE FROM "Team" WHERE "id" = 'red'`),
      async (end) => {
        const creating = createTogether(['red', 'blue', 'blue', 'green'].map((teamId) => ({ teamId })));
        await expect.poll(() => countOf('"Member"'), { timeout: 20_000 }).toBe(3);
        await end();
        return creating;
      },
    );
    expect(settled).toEqual([expect.objectContaining({ code: 'VALUE_INVALID' }), 1, 1, 1]);
  });

  it('inserts one of several records with the same unique value, and no other insertion runs again for them', async () => {
    const inserting = Array.from({ length: 8 }, (_, at) => failure(create(`m${at}`, { name: 'ann' })));
    const runs = await Promise.all(Array.from({ length: 8 }, (_, at) => create(`other${at}`, { name: `name ${at}` })));
    expect((await Promise.all(inserting)).filter((error) => error instanceof ConstraintError)).toHaveLength(7);
    expect(runs).toEqual(runs.map(() => 1));
    expect([await countOf('"Member"'), await countOf('"Log"')]).toEqual([9, 9]);
  });

  it('writes records of resources whose names its statements use too', async () => {
    const [inserted, row] = [resourceOf(definitions, 'inserted'), resourceOf(definitions, 'row')];
    expect([
      await create('a', {}, { resource: inserted }),
      await create('b', { teamId: 'a' }, { resource: inserted }),
      await create('c', {}, { resource: row }),
    ]).toEqual([1, 1, 1]);
    let runs = 0;
    await database.transaction(async (tx) => {
      runs++;
      tx.addToReadSet({ watch: new Map() });
      const values = { name: 'changed' };
      const change = { id: 'c', version: 1, values, cleared: [], now: 0, unlocked: tx.canBeOptimistic ? values : undefined };
      expect(await updateRecord(tx, row, change)).toBe(true);
      tx.append(LOG, [`entry ${++entries}`]);
    });
    expect(runs).toBe(1);
  });

  it.each<[string, (tx: Transaction) => Promise<unknown>, (at: number) => JsonObject, unknown]>([
    [
      'the deletion of a referenced record',
      (tx) => tx.run(sql`DELETE FROM "Team" WHERE "id" = 'red'`),
      () => ({ teamId: 'red' }),
      { code: 'VALUE_INVALID' },
    ],
    ['a lock of the table', (tx) => tx.run(sql`LOCK TABLE "Member" IN SHARE ROW EXCLUSIVE MODE`), () => ({}), undefined],
    [
      'a lock of the table of a referenced record',
      (tx) => tx.run(sql`LOCK TABLE "Team" IN EXCLUSIVE MODE`),
      () => ({ teamId: 'red' }),
      undefined,
    ],
    [
      'the insertion of the same unique values',
      async (tx) => {
        for (const at of [0, 1, 2]) await insertRecord(tx, member, toRecord(`holder${at}`, { name: `ann ${at}` }));
      },
      (at) => ({ name: `ann ${at}` }),
      { constraint: 'unique' },
    ],
  ])('does not let others wait for %s', async (_, hold, valuesOf, expected) => {
    const errors = await whileOpen(database, hold, async (end) => {
      const inserting: Promise<unknown>[] = [];
      // One after the other, so that each is in a commit of its own: two commits run at the same time.
      for (const at of [0, 1, 2]) {
        inserting.push(failure(create(`m${at}`, valuesOf(at))));
        await setTimeout(30);
      }
      expect(await Promise.race([appendOthers(), setTimeout(5000, 'waiting')])).not.toBe('waiting');
      await end();
      return Promise.all(inserting);
    });
    // They wait themselves, and insert their records if they still can.
    const each = expected === undefined ? undefined : expect.objectContaining(expected);
    expect(errors).toEqual([each, each, each]);
    const inserted = expected === undefined ? 3 : 0;
    expect(await countOf(`"Member" WHERE "id" LIKE 'm%'`)).toBe(inserted);
    expect(await countOf('"Log"')).toBe(20 + inserted);
  });

  it('waits for the locks of commit validation as other commits do', async () => {
    const locks = sql`SELECT pg_advisory_xact_lock(hashtext(coalesce(current_schema(), '') || ' bailiwick guard'), n) FROM generate_series(0, 200) AS n`;
    const revision = (await runSql(`SELECT "text" FROM "_State" WHERE "id" = 'epoch'`)).rows[0]?.text ?? '';
    let runs = 0;
    await whileOpen(
      database,
      (tx) => tx.all(locks),
      async (end) => {
        const inserting = database.transaction(async (tx) => {
          runs++;
          tx.addToReadSet({ watch: new Map(), revision });
          await insertAfterLookups(tx, member, {
            record: toRecord('m', { name: 'ann' }),
            definitions,
            found: { has: () => true, isFree: () => true },
          });
          tx.append(LOG, [`entry ${++entries}`]);
        });
        const waiting = async (): Promise<number> => countOf(`pg_locks WHERE "locktype" = 'advisory' AND NOT "granted"`);
        await expect.poll(waiting, { timeout: 20_000 }).toBeGreaterThan(0);
        // Longer than the limit of the waits before.
        await setTimeout(200);
        await end();
        await inserting;
      },
    );
    expect([runs, await countOf('"Member"')]).toEqual([1, 1]);
  });
});

describe('insertions that cannot be deferred', () => {
  const note = 'x'.repeat(5000);

  it('locks the references of a large record, and inserts it', async () => {
    expect(await create('m', { note, teamId: 'red', otherTeamId: 'blue' })).toBe(1);
    expect([await countOf('"Member"'), await countOf('"Log"')]).toEqual([1, 1]);
  });

  it.each<[string, string]>([
    ['deleted', `DELETE FROM "Team" WHERE "id" = 'red'`],
    ['soft-deleted', `UPDATE "Team" SET "deletedAt" = 'now' WHERE "id" = 'red'`],
  ])('refuses a large record if a record that it references is %s after the lookups', async (_, change) => {
    const error = await failure(create('m', { note, teamId: 'red' }, { looked: () => runSql(change) }));
    expect(error).toMatchObject({ code: 'VALUE_INVALID' });
    expect(await countOf('"Member"')).toBe(0);
  });

  it('refuses a large record whose unique value is taken', async () => {
    const error = await failure(create('m', { note, name: 'ann' }, { looked: () => create('other', { name: 'ann' }) }));
    expect(error).toMatchObject({ constraint: 'unique' });
  });
});
