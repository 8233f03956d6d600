import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { onPostgres } from '../../storage/storage.fixture.ts';
import { appendEntry, loadAnalytics, toBeginningHash, toHash } from '../index.ts';
import { loadChainPage, loadStart } from '../integrity/entry-rows.ts';
import {
  createCheckpoints,
  loadCheckpointKey,
  loadPublicKeys,
  publicKeyPath,
  type RunTransaction,
  verifyChains,
} from '../integrity/index.ts';
import { keepContent, openTestAuditLog, type TestAuditLog, type TestVerification } from '../integrity/integrity.fixture.ts';
import { findCuts, planPruning, pruneEntries } from './prune-entries.ts';
import { countRepeats, D1, D2, D3, D4, entryAt, fillDays, TODAY } from './retention.fixture.ts';

const BEFORE = D3;

let auditLog: TestAuditLog;
afterEach(() => auditLog.dispose());

const key = () => loadCheckpointKey(auditLog.folder);
const prune = (before: string = BEFORE, more: { readonly stop?: AbortSignal } = {}) =>
  pruneEntries({ database: auditLog.database, path: auditLog.path, key: key(), before, by: 'a test', ...more });
const reasons = async (): Promise<readonly string[]> => (await auditLog.rows()).map(({ reason }) => String(reason));
const counts = () =>
  auditLog.database.transaction((tx) => tx.all(sql`select * from "_DecisionHour" where "hour" < ${BEFORE} order by "id"`));
const summary = ({ breaks }: TestVerification) => breaks.map(({ kind, detail }) => `${kind}: ${detail}`);

describe('pruneEntries', () => {
  let filled: TestAuditLog;
  let openFilled: () => Promise<TestAuditLog>;
  beforeAll(async () => {
    filled = await openTestAuditLog();
    await fillDays(filled, [D1, D2, D3, D4], 20);
    await filled.checkpoint();
    openFilled = await keepContent(filled);
  });
  afterAll(() => filled.dispose());
  beforeEach(async () => {
    auditLog = await openFilled();
  });

  it('deletes old entries only, appends an entry, leaves the log intact and keeps the hourly counts', async () => {
    const before = await counts();
    expect(await planPruning(auditLog.database, BEFORE)).toEqual({ entries: 80, chains: 3 });
    expect(await prune()).toEqual({ entries: 80, chains: 3 });
    const left = await reasons();
    const noted = `80 entries of 3 chains, from before ${BEFORE}, are pruned`;
    expect([left.length, left.filter((reason) => reason < BEFORE), left.includes(noted)]).toEqual([81, [], true]);
    expect(await counts()).toEqual(before);
    const found = await auditLog.verify();
    expect([summary(found), found.entries, found.checkpoints.lines]).toEqual([[], 81, 2]);
    expect(readFileSync(auditLog.path, 'utf8')).toContain('"kind":"cut"');
  });

  it('a second prune deletes nothing', async () => {
    await prune();
    const rows = await auditLog.rows();
    expect(await prune()).toEqual({ entries: 0, chains: 0 });
    expect(await auditLog.rows()).toEqual(rows);
  });

  it('a prune with a later day deletes more entries', async () => {
    await prune(D2);
    expect(await prune(D4)).toEqual({ entries: 80, chains: 3 });
    expect(summary(await auditLog.verify())).toEqual([]);
    expect((await reasons()).filter((reason) => reason.startsWith(D3)).length).toBe(0);
  });

  it('a prune continues after it was killed between two steps', async () => {
    const stop = new AbortController();
    const { database } = auditLog;
    let steps = 0;
    const halting = {
      ...database,
      transaction: ((work, how) => {
        // The first step that deletes entries.
        if (how?.unlimited === true && ++steps === 2) stop.abort(new Error('killed'));
        if (stop.signal.aborted) throw stop.signal.reason;
        return database.transaction(work, how);
      }) as typeof database.transaction,
    };
    await expect(pruneEntries({ database: halting, path: auditLog.path, key: key(), before: BEFORE, by: 'a test' })).rejects.toThrow(
      'killed',
    );
    expect(summary(await auditLog.verify())).toEqual([]);
    const between = (await reasons()).length;
    expect(await prune()).toEqual({ entries: 0, chains: 0 });
    expect([between >= 81, (await reasons()).length]).toEqual([true, 81]);
    expect(summary(await auditLog.verify())).toEqual([]);
  });

  it('a prune pauses after each step for as long as the step took, so that other processes can write', async () => {
    const { database } = auditLog;
    const steps: { readonly from: number; readonly to: number }[] = [];
    const watched = {
      ...database,
      transaction: (async (work, how) => {
        const from = performance.now();
        const answer = await database.transaction(work, how);
        if (how?.unlimited !== true) return answer;
        // Long enough to differ from a pause of no length.
        await setTimeout(20);
        steps.push({ from, to: performance.now() });
        return answer;
      }) as typeof database.transaction,
    };
    await pruneEntries({ database: watched, path: auditLog.path, key: key(), before: BEFORE, by: 'a test' });
    const hurried = steps.filter(({ from, to }, at) => (steps[at + 1]?.from ?? Number.POSITIVE_INFINITY) - to < (to - from) / 2);
    expect([steps.length > 1, hurried]).toEqual([true, []]);
  });

  it('the checkpoints of a running service do not report pruning as a change', async () => {
    const lines: string[] = [];
    const checkpoints = createCheckpoints({
      database: auditLog.database,
      path: auditLog.path,
      key: key(),
      log: (line) => lines.push(line),
    });
    checkpoints.start();
    await prune();
    await checkpoints.close();
    checkpoints.start();
    await prune(new Date(TODAY).toISOString().slice(0, 10));
    await checkpoints.close();
    expect(lines).toEqual([]);
    expect(summary(await auditLog.verify())).toEqual([]);
  });

  it('a prune leaves later changes of the log detectable', async () => {
    await prune();
    const [first] = await auditLog.rows();
    await auditLog.tamper(sql`delete from "_Decision" where "id" = ${first?.id}`);
    expect((await auditLog.verify()).breaks.length).toBe(1);
  });

  it('leaves an unsigned cut detectable', async () => {
    await auditLog.tamper(
      sql`update "_Chain" set "cut" = ${JSON.stringify({ at: '', service: 'x', sequence: 20, hash: 'x', signature: '' })} where "id" = ${(await auditLog.rows())[0]?.writer}`,
      sql`delete from "_Decision" where "at" < ${D2}`,
    );
    expect((await auditLog.verify()).breaks.map(({ kind }) => kind)).toContain('signature');
  });

  it('leaves an entry detectable that was inserted before the cut', async () => {
    const old = (await auditLog.rows()).find(({ sequence }) => sequence === 3);
    await prune();
    expect(summary(await auditLog.verify())).toEqual([]);
    await auditLog.tamper(sql`insert into "_Decision" ("id", "at", "kind", "allowed", "writer", "sequence", "hash")
      values ('put', ${new Date().toISOString()}, 'access', ${onPostgres ? sql`true` : 1}, ${old?.writer}, 3, 'x')`);
    expect(summary(await auditLog.verify())).toEqual([
      'inserted: entry put is before the cut of the chain, but too new to have been pruned',
    ]);
  });

  it('records the numbers of repeated denials before it deletes the entry of the first', async () => {
    await auditLog.tamper(countRepeats((await auditLog.rows()).find(({ reason }) => String(reason).startsWith(D1))?.id, 7));
    await prune();
    expect((await auditLog.rows()).filter(({ kind }) => kind === 'repeat')).toMatchObject([{ epoch: 2, resource: 'Article' }]);
  });

  it('keeps the analytics of hours whose entries are deleted', async () => {
    const from = Date.parse(`${D2}T00:00:05.000Z`);
    const ask = () => auditLog.database.transaction((tx) => loadAnalytics(tx, { from }));
    const before = await ask();
    await prune();
    const after = await ask();
    expect([before.from, after.from]).toEqual([`${D2}T00:00:05.000Z`, `${D2}T00:00:00.000Z`]);
    expect(after.accessGrants + after.accessDenials).toBe(before.accessGrants + before.accessDenials + 10);
  });

  it('a prune loses no entry that is appended meanwhile', async () => {
    const appended: string[] = [];
    let isOver = false;
    const load = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const entry = entryAt(new Date().toISOString(), 'load');
        await auditLog.database.transaction(async (tx) => appendEntry(tx, entry));
        appended.push(entry.id);
      }
    });
    await prune().finally(() => {
      isOver = true;
    });
    await Promise.all(load);
    const ids = new Set((await auditLog.rows()).map(({ id }) => id));
    expect([appended.length > 0, appended.filter((id) => !ids.has(id))]).toEqual([true, []]);
    expect(summary(await auditLog.verify())).toEqual([]);
  });

  it.each([1, 2, 3, 5, 8, 13])('a prune does not disturb a concurrent verification: in transaction %i', async (at) => {
    let looks = 0;
    const transaction: RunTransaction = async (work) => {
      if (++looks === at) await prune();
      return auditLog.database.transaction(work);
    };
    const keys = loadPublicKeys(publicKeyPath(auditLog.folder));
    expect(await verifyChains({ transaction, keys, known: new Map() })).toMatchObject({ breaks: [], breakCount: 0 });
  });

  it('a prune does not disturb a verification that continues before the cut', async () => {
    const transaction: RunTransaction = (work) => auditLog.database.transaction(work);
    const verifying = { transaction, keys: loadPublicKeys(publicKeyPath(auditLog.folder)), known: new Map() };
    const first = await verifyChains({ ...verifying, limit: 7 });
    await prune();
    expect(await verifyChains({ ...verifying, from: first.next })).toMatchObject({ breaks: [], breakCount: 0 });
  });

  it('two concurrent runs delete entries once', async () => {
    const pruned = await Promise.all([prune(), prune(), prune()]);
    expect(pruned.reduce((sum, { entries }) => sum + entries, 0)).toBe(80);
    expect((await reasons()).filter((reason) => reason.endsWith('are pruned')).length).toBe(1);
    expect(summary(await auditLog.verify())).toEqual([]);
  });
});

describe('pruneEntries of a new audit log', () => {
  beforeEach(async () => {
    auditLog = await openTestAuditLog();
  });

  it('an old entry after a newer one is kept, and deleted with it', async () => {
    const times = [`${D2}T23:00:00.000Z`, `${D3}T00:00:01.000Z`, `${D2}T23:59:59.000Z`, `${D3}T00:00:02.000Z`];
    for (const time of times) await auditLog.database.transaction(async (tx) => appendEntry(tx, entryAt(time)));
    expect(await prune()).toEqual({ entries: 1, chains: 1 });
    expect((await reasons()).filter((reason) => times.includes(reason))).toEqual(times.slice(1));
    expect(summary(await auditLog.verify())).toEqual([]);
    expect(await prune(D4)).toEqual({ entries: 3, chains: 1 });
    expect((await reasons()).filter((reason) => times.includes(reason))).toEqual([]);
    expect(summary(await auditLog.verify())).toEqual([]);
  });

  it('a chain with a changed entry at the cut is not cut', async () => {
    await fillDays(auditLog, [D1, D4], 5);
    const [first] = await auditLog.rows();
    await auditLog.tamper(sql`update "_Decision" set "hash" = null where "writer" = ${first?.writer}`);
    expect((await findCuts(auditLog.database, BEFORE)).map(({ writer }) => writer)).not.toContain(first?.writer);
    await prune();
    expect((await auditLog.rows()).filter(({ writer }) => writer === first?.writer).length).toBe(5);
  });

  it.runIf(onPostgres)('entries without a partition are moved to one and dropped with it', async () => {
    await auditLog.database.transaction(async (tx) => appendEntry(tx, entryAt(`${D1}T12:00:00.000Z`)));
    const inRest = () => auditLog.database.transaction((tx) => tx.all(sql`select 1 from "_Decision$rest"`));
    expect((await inRest()).length).toBe(1);
    await prune();
    expect([(await inRest()).length, (await reasons()).includes(`${D1}T12:00:00.000Z`)]).toEqual([0, false]);
  });

  it('entries older than hash chains are counted, noted in the audit log, and deleted', async () => {
    await fillDays(auditLog, [D1, D4], 5);
    await auditLog.tamper(sql`update "_Decision" set "writer" = null, "sequence" = null, "hash" = null`, sql`delete from "_Chain"`);
    expect(await planPruning(auditLog.database, BEFORE)).toEqual({ entries: 10, chains: 0 });
    expect(await prune()).toEqual({ entries: 10, chains: 0 });
    const left = await reasons();
    expect([left.length, left.includes(`10 entries of 0 chains, from before ${BEFORE}, are pruned`)]).toEqual([11, true]);
    expect(await prune()).toEqual({ entries: 0, chains: 0 });
    expect((await reasons()).length).toBe(11);
  });

  describe('entries with a forged time', () => {
    const chainOf = async () => (await auditLog.rows()).filter(({ reason }) => reason === `${D4}T00:00:00.000Z`)[0]?.writer;

    it('entries with a forged time are not pruned, and are reported', async () => {
      await fillDays(auditLog, [D4], 10);
      await auditLog.checkpoint();
      await auditLog.tamper(
        sql`update "_Decision" set "at" = ${`${D1}T00:00:00.000Z`} where "writer" = ${await chainOf()} and "sequence" <= 7`,
      );
      expect(await prune()).toEqual({ entries: 0, chains: 0 });
      expect((await auditLog.verify()).breaks.map(({ kind, sequence }) => [kind, sequence]).slice(0, 2)).toEqual([
        ['edited', 1],
        ['edited', 2],
      ]);
    });

    it('reports entries with a forged time if the whole chain was rewritten, because checkpoints contain its last entry', async () => {
      await fillDays(auditLog, [D4], 10);
      await auditLog.checkpoint();
      const writer = await chainOf();
      const { start, rows } = await auditLog.database.transaction(async (tx) => ({
        start: await loadStart(tx, String(writer)),
        rows: await loadChainPage(tx, String(writer), { after: { sequence: 1, id: '' }, limit: 100 }),
      }));
      let hash = toBeginningHash(start as NonNullable<typeof start>);
      for (const { id, content } of rows) {
        const at = `${D1}T00:00:00.000Z`;
        hash = toHash(hash, content.with(1, at));
        await auditLog.tamper(sql`update "_Decision" set "at" = ${at}, "hash" = ${hash} where "id" = ${id}`);
      }
      expect(await prune()).toEqual({ entries: 10, chains: 1 });
      expect((await auditLog.verify()).breaks.map(({ kind, sequence }) => [kind, sequence])).toEqual([['edited', 10]]);
    });
  });
});
