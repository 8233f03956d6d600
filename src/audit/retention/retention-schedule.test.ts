import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { sql } from '../../sql.ts';
import { createPartitions } from '../../storage/index.ts';
import { onPostgres, replaceMembers } from '../../storage/storage.fixture.ts';
import { appendEntry } from '../index.ts';
import { loadCheckpointKey } from '../integrity/index.ts';
import { openTestAuditLog, type TestAuditLog, type TestVerification } from '../integrity/integrity.fixture.ts';
import { AUDIT_RESOURCE, pruneEntries } from './prune-entries.ts';
import { D1, D3, DAY, dayOf, entryAt, fillDays } from './retention.fixture.ts';
import { createRetention, firstKeptDay } from './retention-schedule.ts';

const keyOf = ({ folder }: TestAuditLog) => loadCheckpointKey(folder);
const summary = ({ breaks }: TestVerification) => breaks.map(({ kind, detail }) => `${kind}: ${detail}`);

// At the same time, because each waits for lock timeouts.
describe.runIf(onPostgres).concurrent('a long read transaction', () => {
  /** Locks a table like pg_dump while the function runs. */
  async function whileRead({ database }: TestAuditLog, table: string, work: () => Promise<void>): Promise<void> {
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const { promise: isHeld, resolve: held } = Promise.withResolvers<void>();
    const dump = database.transaction(async (tx) => {
      await tx.run(sql`lock table ${sql.table(table)} in access share mode`);
      held();
      await isOver;
    });
    await isHeld;
    await work().finally(end);
    await dump;
  }

  /** Opens an audit log for one of the tests. */
  async function open(onTestFinished: TestContext['onTestFinished']): Promise<TestAuditLog> {
    const auditLog = await openTestAuditLog();
    onTestFinished(() => auditLog.dispose());
    return auditLog;
  }

  it('a service starts while a transaction reads for long, and logs that it could not create a partition', async ({ onTestFinished }) => {
    const auditLog = await open(onTestFinished);
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);
    const retention = createRetention({
      database: auditLog.database,
      path: auditLog.path,
      key: () => keyOf(auditLog),
      days: undefined,
      log,
    });
    await whileRead(auditLog, '_Decision$rest', () => retention.prepare());
    expect(lines.length).toBe(1);
    await retention.prepare();
    expect(
      await auditLog.database.transaction((tx) =>
        tx.one(sql`select to_regclass(${`"_Decision$${dayOf(Date.now())}"`}) is not null as "is"`),
      ),
    ).toEqual({ is: 1 });
  });

  it('pruning that is aborted does not wait for a transaction that reads for long', async ({ onTestFinished }) => {
    const auditLog = await open(onTestFinished);
    await fillDays(auditLog, [D1], 5);
    await createPartitions(auditLog.database, AUDIT_RESOURCE);
    const stop = new AbortController();
    await whileRead(auditLog, `_Decision$${D1}`, async () => {
      const { database, path } = auditLog;
      const pruning = pruneEntries({ database, path, key: keyOf(auditLog), before: D3, by: 'a test', stop: stop.signal });
      const isWaiting = () =>
        auditLog.database.transaction((tx) =>
          tx.one(sql`select 1 from pg_locks where not granted and relation = ${`"_Decision$${D1}"`}::regclass`),
        );
      while ((await isWaiting()) === undefined) await new Promise((again) => setTimeout(again, 20));
      stop.abort(new Error('aborted'));
      await expect(pruning).rejects.toThrow('aborted');
    });
    expect(summary(await auditLog.verify())).toEqual([]);
  });
});

describe('scheduled retention', () => {
  let auditLog: TestAuditLog;
  beforeEach(async () => {
    auditLog = await openTestAuditLog();
  });
  afterEach(() => auditLog.dispose());

  const key = () => keyOf(auditLog);
  const reasons = async (): Promise<readonly string[]> => (await auditLog.rows()).map(({ reason }) => String(reason));

  it('deletes no entry that is old by one clock only', async () => {
    await fillDays(auditLog, [D3], 2);
    const { database } = auditLog;
    const { promise: isDropping, resolve: dropping } = Promise.withResolvers<void>();
    const ahead = {
      ...database,
      transaction: ((work, how) =>
        database
          .transaction((tx) => work(replaceMembers(tx, { now: tx.now + 400 * DAY })), how)
          .finally(() => how?.unlimited === true && dropping())) as typeof database.transaction,
    };
    const lines: string[] = [];
    const retention = createRetention({ database: ahead, path: auditLog.path, key, days: 30, log: (line) => lines.push(line) });
    retention.start();
    await isDropping;
    await retention.close();
    expect([lines, (await auditLog.rows()).length]).toEqual([[], 4]);
  });

  it('deletes old entries once a day', async () => {
    const lines: string[] = [];
    const now = await auditLog.database.transaction(async (tx) => tx.now);
    const old = new Date(now - 3 * DAY).toISOString();
    const young = new Date(now - DAY).toISOString();
    for (const at of [old, young]) await auditLog.database.transaction(async (tx) => appendEntry(tx, entryAt(at)));
    const { promise: isTold, resolve } = Promise.withResolvers<void>();
    const log = (line: string): void => {
      lines.push(line);
      resolve();
    };
    const retention = createRetention({ database: auditLog.database, path: auditLog.path, key, days: 2, log });
    await retention.prepare();
    retention.start();
    await isTold;
    await retention.close();
    expect(lines).toEqual([`1 entries of 1 chains, from before ${firstKeptDay(now, 2)}, are pruned`]);
    expect((await reasons()).filter((reason) => reason === old || reason === young)).toEqual([young]);
    expect(summary(await auditLog.verify())).toEqual([]);
  });

  it('deletes no entry without a number of days', async () => {
    await fillDays(auditLog, [D1], 2);
    const retention = createRetention({ database: auditLog.database, path: auditLog.path, key, days: undefined, log: () => undefined });
    retention.start();
    await retention.close();
    expect((await auditLog.rows()).length).toBe(4);
  });

  it('logs a failed prune once', async () => {
    const lines: string[] = [];
    const broken = { ...auditLog.database, transaction: () => Promise.reject(new Error('no disk')) };
    const { promise: isTold, resolve } = Promise.withResolvers<void>();
    const log = (line: string): void => {
      lines.push(line);
      resolve();
    };
    const retention = createRetention({ database: broken, path: auditLog.path, key, days: 2, log, interval: 1 });
    retention.start();
    await isTold;
    await new Promise((again) => setTimeout(again, 20));
    await retention.close();
    expect(lines).toEqual([expect.stringMatching(/pruned.*: no disk$/)]);
  });
});
