import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { makePartitions } from '../../storage/index.ts';
import { onPostgres } from '../../storage/storage.fixture.ts';
import { appendEntry } from '../index.ts';
import { loadCheckpointKey } from '../integrity/index.ts';
import { openTestAuditLog, type TestAuditLog, type TestVerification } from '../integrity/integrity.fixture.ts';
import { AUDIT_RESOURCE, pruneEntries } from './prune-entries.ts';
import { D1, D3, DAY, dayOf, entryAt, fillDays } from './retention.fixture.ts';
import { createRetention, firstKeptDay } from './retention-schedule.ts';

let record: TestAuditLog;
beforeEach(async () => {
  record = await openTestAuditLog();
});
afterEach(() => record.dispose());

const key = () => loadCheckpointKey(record.folder);
const summary = ({ breaks }: TestVerification) => breaks.map(({ kind, detail }) => `${kind}: ${detail}`);
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
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);
    const retention = createRetention({ database: record.database, path: record.path, key, days: undefined, log });
    await whileRead('_Decision$rest', () => retention.prepare());
    expect(lines.length).toBe(1);
    await retention.prepare();
    expect(
      await record.database.transaction((tx) => tx.one(sql`select to_regclass(${`"_Decision$${dayOf(Date.now())}"`}) is not null as "is"`)),
    ).toEqual({ is: 1 });
  });

  it('who is told to stop does not wait for that', async () => {
    await fillDays(record, [D1], 5);
    await makePartitions(record.database, AUDIT_RESOURCE);
    const stop = new AbortController();
    await whileRead(`_Decision$${D1}`, async () => {
      const { database, path } = record;
      const pruning = pruneEntries({ database, path, key: key(), before: D3, by: 'a test', stop: stop.signal });
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
    const lines: string[] = [];
    const retention = createRetention({ database: ahead, path: record.path, key, days: 30, log: (line) => lines.push(line) });
    retention.start();
    await isDropping;
    await retention.close();
    expect([lines, (await record.rows()).length]).toEqual([[], 4]);
  });

  it('goes what is older than it is to be kept, once a day', async () => {
    const lines: string[] = [];
    const now = await record.database.transaction(async (tx) => tx.now);
    const old = new Date(now - 3 * DAY).toISOString();
    const young = new Date(now - DAY).toISOString();
    for (const at of [old, young]) await record.database.transaction((tx) => appendEntry(tx, entryAt(at)));
    const { promise: isTold, resolve } = Promise.withResolvers<void>();
    const log = (line: string): void => {
      lines.push(line);
      resolve();
    };
    const retention = createRetention({ database: record.database, path: record.path, key, days: 2, log });
    await retention.prepare();
    retention.start();
    await isTold;
    await retention.close();
    expect(lines).toEqual([`1 entries of 1 chains, from before ${firstKeptDay(now, 2)}, are pruned`]);
    expect((await reasons()).filter((reason) => reason === old || reason === young)).toEqual([young]);
    expect(summary(await record.verify())).toEqual([]);
  });

  it('goes nothing where nobody asked for it', async () => {
    await fillDays(record, [D1], 2);
    const retention = createRetention({ database: record.database, path: record.path, key, days: undefined, log: () => undefined });
    retention.start();
    await retention.close();
    expect((await record.rows()).length).toBe(4);
  });

  it('what stands in the way is told once', async () => {
    const lines: string[] = [];
    const broken = { ...record.database, transaction: () => Promise.reject(new Error('no disk')) };
    const { promise: isTold, resolve } = Promise.withResolvers<void>();
    const log = (line: string): void => {
      lines.push(line);
      resolve();
    };
    const retention = createRetention({ database: broken, path: record.path, key, days: 2, log, interval: 1 });
    retention.start();
    await isTold;
    await new Promise((again) => setTimeout(again, 20));
    await retention.close();
    expect(lines).toEqual(['old audit entries could not be pruned, which is tried again every hour: no disk']);
  });
});
