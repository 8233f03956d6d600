/** Lists of a large table in long attempts: they run in reader threads on SQLite. */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseFolder } from '../../../test/database-folder.ts';
import { ALWAYS, type Condition } from '../../conditions/index.ts';
import { resolveSort } from '../../request/index.ts';
import { sql } from '../../sql.ts';
import type { Attempt } from '../attempt.ts';
import type { BudgetLimits } from '../budget.ts';
import type { Database, Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertRecord } from '../records.ts';
import { openSqlite } from '../sqlite/database.ts';
import { compare, define, failure, resourceOf, scopesOf, testBudget, toRecord } from '../storage.fixture.ts';
import { findMatches } from './find-matches.ts';
import type { ListQuery, Page } from './list-query.ts';
import { listRecords } from './record-lists.ts';

const definitions = define({ Item: { fields: { key: { type: 'integer', index: true }, value: { type: 'string' } } } });
const item = resourceOf(definitions, 'Item');
const RECORDS = 5000;

let database: Database;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(databaseFolder, 'bailiwick-long-'));
  const path = join(folder, 'long.db');
  const filling = openSqlite({ path });
  await migrate(filling, definitions);
  await filling.transaction(
    async (tx) => {
      for (let n = 0; n < RECORDS; n++)
        await insertRecord(tx, item, toRecord(`id-${String(n).padStart(4, '0')}`, { key: n % 50, value: `v${n}` }));
    },
    { unlimited: true },
  );
  await filling.close();
  // Without time, a short attempt ends at its first deadline check.
  database = openSqlite({ path, readers: 1, timeLimits: { short: 0, writer: 0 } });
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

const scopeFor = scopesOf(item);

interface Listed extends Page {
  readonly attempt: Attempt;
}

async function list(query: Partial<ListQuery>, limits: Partial<BudgetLimits> = {}): Promise<Listed> {
  return database.transaction(async (tx) => {
    const whole = { where: ALWAYS, scopeFor, definitions, sort: [], limit: 100, now: 0, timeZone: 'UTC', ...query };
    return { ...(await listRecords(tx, item, { ...whole, budget: testBudget(limits) })), attempt: tx.attempt };
  });
}

const idsOf = ({ records }: Page): readonly string[] => records.map(({ id }) => id);
const byKey = resolveSort(item, [{ field: 'key', descending: true }]);
const byValue = resolveSort(item, [{ field: 'value', descending: true }]);

describe('a list in a long attempt', () => {
  it.each<[string, Partial<ListQuery>, readonly string[]]>([
    ['one record', { where: compare('value', 'eq', 'v4321') }, ['id-4321']],
    ['no record', { where: compare('value', 'eq', 'none') }, []],
    ['sorted by an index', { where: compare('value', 'endsWith', '77'), sort: byKey, limit: 2 }, ['id-4977', 'id-4877']],
    ['sorted without an index', { where: compare('value', 'endsWith', '99'), sort: byValue, limit: 2 }, ['id-0999', 'id-0099']],
    ['an offset', { where: compare('value', 'endsWith', '99'), offset: 48 }, ['id-4899', 'id-4999']],
    ['in memory', { where: compare('value', 'matches', '^v(12|49)34$') }, ['id-1234', 'id-4934'].slice(0, 2)],
  ])('finds all matching records: %s', async (_, query, expected) => {
    const page = await list(query);
    expect([page.attempt, idsOf(page), page.truncated]).toEqual(['long', expected, undefined]);
  });

  it('pages that end early find a record in the last rows', async () => {
    const where = compare('value', 'eq', 'v4999');
    let page = await list({ where }, { rows: 1500 });
    const found = [...idsOf(page)];
    let count = 1;
    for (; page.next !== undefined; count++) {
      expect([page.truncated, page.attempt]).toEqual(['scanRows', 'long']);
      page = await list({ where, after: page.next }, { rows: 1500 });
      found.push(...idsOf(page));
    }
    expect([found, count]).toEqual([['id-4999'], 4]);
  });

  it('a page examines no more rows than the budget has', async () => {
    const page = await list({ where: compare('value', 'eq', 'none') }, { rows: 1500 });
    expect(page.next).toEqual({ id: 'id-1499', keys: [] });
  });

  it('counts all records', async () => {
    expect(await list({ where: compare('value', 'endsWith', '7'), limit: 1, total: true })).toMatchObject({ total: 500, attempt: 'long' });
  });
});

describe('a change of the records that match a filter', () => {
  interface Changed {
    readonly attempt: Attempt;
    readonly ids: readonly string[];
  }

  /** Changes the records that match. Its writer has enough time for a search, so only the candidates can keep it from finding others. */
  async function change(filter: Condition, prepareWriter: (tx: Transaction) => Promise<unknown>): Promise<Changed> {
    const own = openSqlite({ path: join(folder, 'long.db'), readers: 1, timeLimits: { short: 0, writer: 60_000 } });
    try {
      return await own.transaction(async (tx) => {
        if (tx.attempt === 'writer') await prepareWriter(tx);
        const found = await findMatches(tx, item, { filter, budget: testBudget(), limit: 2, toChange: true });
        for (const { id } of found) await tx.run(sql`UPDATE "Item" SET "version" = "version" + 1 WHERE "id" = ${id}`);
        return { attempt: tx.attempt, ids: found.map(({ id }) => id) };
      });
    } finally {
      await own.close();
    }
  }

  it('the writer uses the candidates that the long attempt found', async () => {
    const matchLater = (tx: Transaction) => tx.run(sql`UPDATE "Item" SET "value" = 'v4998' WHERE "id" = 'id-4990'`);
    expect(await change(compare('value', 'eq', 'v4998'), matchLater)).toEqual({ attempt: 'writer', ids: ['id-4998'] });
    expect((await list({ where: compare('value', 'eq', 'v4998') })).records).toMatchObject([{ version: 1 }, { version: 2 }]);
  });

  it('a search without a match changes nothing and needs no writer', async () => {
    expect(await change(compare('value', 'eq', 'none'), async () => undefined)).toEqual({ attempt: 'long', ids: [] });
  });

  it('a writer without candidates fails with REQUEST_BUDGET', async () => {
    const filter = compare('value', 'eq', 'none');
    const creating = database.transaction(async (tx) => {
      await tx.lock('a name');
      return findMatches(tx, item, { filter, budget: testBudget(), limit: 1 });
    });
    expect(await failure(creating)).toMatchObject({ code: 'REQUEST_BUDGET' });
  });
});
