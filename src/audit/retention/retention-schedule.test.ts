import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { makePartitions } from '../../storage/index.ts';
import { onPostgres } from '../../storage/storage.fixture.ts';
import { appendEntry } from '../index.ts';
import { type Found, openTestRecord, type TestRecord } from '../integrity/evidence.fixture.ts';
import { loadCheckpointKey } from '../integrity/index.ts';
import { DECISION, pruneDecisions } from './prune-entries.ts';
import { D1, D3, DAY, dayOf, entryAt, fillDays } from './retention.fixture.ts';
import { createRetention, lastDay } from './retention-schedule.ts';

let record: TestRecord;
beforeEach(async () => {
  record = await openTestRecord();
});
afterEach(() => record.dispose());

const key = () => loadCheckpointKey(record.folder);
const summary = ({ breaks }: Found) => breaks.map(({ kind, detail }) => `${kind}: ${detail}`);
const reasons = async (): Promise<readonly string[]> => (await record.rows()).map(({ reason }) => String(reason));

describe.runIf(onPostgres)('where somebody reads for long', () => {
  /** Holds a table as a dump of it does, for as long as the work goes on. */
  async function whileRead(table: string, work: () => Promise<void>): Promise<void> {
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const { promise: isHeld, resolve: held } = Promise.withResolvers<void>();
    const dump = record.database.transaction(async (tx) => {
      await tx.run(sql`lock table ${sql.table(table)} in access share mode`);
      held();
      await isOver;
    });
    await isHeld;
    await work().finally(end);
    await dump;
  }

  it('a service starts all the same, and says that it has no partition', async () => {
    const told: string[] = [];
    const tell = (line: string): void => void told.push(line);
    const retention = createRetention({ database: record.database, path: record.path, key, days: undefined, tell });
    await whileRead('_Decision$rest', () => retention.prepare());
    expect(told.length).toBe(1);
    await retention.prepare();
    expect(
      await record.database.transaction((tx) => tx.one(sql`select to_regclass(${`"_Decision$${dayOf(Date.now())}"`}) is not null as "is"`)),
    ).toEqual({ is: 1 });
  });

  it('who is told to stop does not wait for that', async () => {
    await fillDays(record, [D1], 5);
    await makePartitions(record.database, DECISION);
    const stop = new AbortController();
    await whileRead(`_Decision$${D1}`, async () => {
      const { database, path } = record;
      const pruning = pruneDecisions({ database, path, key: key(), before: D3, by: 'a test', stop: stop.signal });
      const isWaiting = () =>
        record.database.transaction((tx) =>
          tx.one(sql`select 1 from pg_locks where not granted and relation = ${`"_Decision$${D1}"`}::regclass`),
        );
      while ((await isWaiting()) === undefined) await new Promise((again) => setTimeout(again, 20));
      stop.abort(new Error('told to stop'));
      await expect(pruning).rejects.toThrow('told to stop');
    });
    expect(summary(await record.verify())).toEqual([]);
  });
});

describe('by itself', () => {
  it('goes nothing that one clock alone says is old', async () => {
    await fillDays(record, [D3], 2);
    const { database } = record;
    const { promise: isDropping, resolve: dropping } = Promise.withResolvers<void>();
    const ahead = {
      ...database,
      transaction: ((work, how) =>
        database
          .transaction((tx) => work({ ...tx, now: tx.now + 400 * DAY }), how)
          .finally(() => how?.longRunning === true && dropping())) as typeof database.transaction,
    };
    const told: string[] = [];
    const retention = createRetention({ database: ahead, path: record.path, key, days: 30, tell: (line) => told.push(line) });
    retention.start();
    await isDropping;
    await retention.close();
    expect([told, (await record.rows()).length]).toEqual([[], 4]);
  });

  it('goes what is older than it is to be kept, once a day', async () => {
    const told: string[] = [];
    const now = await record.database.transaction(async (tx) => tx.now);
    const old = new Date(now - 3 * DAY).toISOString();
    const young = new Date(now - DAY).toISOString();
    for (const at of [old, young]) await record.database.transaction((tx) => appendEntry(tx, entryAt(at)));
    const { promise: isTold, resolve } = Promise.withResolvers<void>();
    const tell = (line: string): void => {
      told.push(line);
      resolve();
    };
    const retention = createRetention({ database: record.database, path: record.path, key, days: 2, tell });
    await retention.prepare();
    retention.start();
    await isTold;
    await retention.close();
    expect(told).toEqual([`1 entries of 1 chains, from before ${lastDay(now, 2)}, are pruned`]);
    expect((await reasons()).filter((reason) => reason === old || reason === young)).toEqual([young]);
    expect(summary(await record.verify())).toEqual([]);
  });

  it('goes nothing where nobody asked for it', async () => {
    await fillDays(record, [D1], 2);
    const retention = createRetention({ database: record.database, path: record.path, key, days: undefined, tell: () => undefined });
    retention.start();
    await retention.close();
    expect((await record.rows()).length).toBe(4);
  });

  it('what stands in the way is told once', async () => {
    const told: string[] = [];
    const broken = { ...record.database, transaction: () => Promise.reject(new Error('no disk')) };
    const { promise: isTold, resolve } = Promise.withResolvers<void>();
    const tell = (line: string): void => {
      told.push(line);
      resolve();
    };
    const retention = createRetention({ database: broken, path: record.path, key, days: 2, tell, every: 1 });
    retention.start();
    await isTold;
    await new Promise((again) => setTimeout(again, 20));
    await retention.close();
    expect(told).toEqual(['old entries of the record could not be seen to, and that is tried again each hour: no disk']);
  });
});
