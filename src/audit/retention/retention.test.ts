import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { onPostgres } from '../../storage/storage.fixture.ts';
import { appendEntry, loadAnalytics } from '../index.ts';
import {
  createCheckpoints,
  loadCheckpointKey,
  loadPublicKeys,
  publicKeyPath,
  type RunTransaction,
  verifyChains,
} from '../integrity/index.ts';
import { openTestAuditLog, type TestAuditLog, type TestVerification } from '../integrity/integrity.fixture.ts';
import { findCuts, planPruning, pruneEntries } from './prune-entries.ts';
import { D1, D2, D3, D4, entryAt, fillDays, TODAY } from './retention.fixture.ts';

const BEFORE = D3;

let record: TestAuditLog;
beforeEach(async () => {
  record = await openTestAuditLog();
});
afterEach(() => record.dispose());

const key = () => loadCheckpointKey(record.folder);
const prune = (before: string = BEFORE, more: { readonly stop?: AbortSignal } = {}) =>
  pruneEntries({ database: record.database, path: record.path, key: key(), before, by: 'a test', ...more });
const reasons = async (): Promise<readonly string[]> => (await record.rows()).map(({ reason }) => String(reason));
const counts = () => record.database.transaction((tx) => tx.all(sql`select * from "_DecisionHour" where "hour" < ${BEFORE} order by "id"`));
const summary = ({ breaks }: TestVerification) => breaks.map(({ kind, detail }) => `${kind}: ${detail}`);

describe('what is older than a day goes', () => {
  beforeEach(async () => {
    await fillDays(record, [D1, D2, D3, D4], 20);
    await record.checkpoint();
  });

  it('and nothing else does: the record is whole, says what was pruned, and hourly counts stay', async () => {
    const before = await counts();
    expect(await planPruning(record.database, BEFORE)).toEqual({ entries: 80, chains: 3 });
    expect(await prune()).toEqual({ entries: 80, chains: 3 });
    const left = await reasons();
    const noted = `80 entries of 3 chains, from before ${BEFORE}, are pruned`;
    expect([left.length, left.filter((reason) => reason < BEFORE), left.includes(noted)]).toEqual([81, [], true]);
    expect(await counts()).toEqual(before);
    const found = await record.verify();
    expect([summary(found), found.entries, found.checkpoints.lines]).toEqual([[], 81, 2]);
    expect(readFileSync(record.path, 'utf8')).toContain('"kind":"cut"');
  });

  it('once: what is done again finds nothing', async () => {
    await prune();
    const rows = await record.rows();
    expect(await prune()).toEqual({ entries: 0, chains: 0 });
    expect(await record.rows()).toEqual(rows);
  });

  it('step by step: a later day takes more', async () => {
    await prune(D2);
    expect(await prune(D4)).toEqual({ entries: 80, chains: 3 });
    expect(summary(await record.verify())).toEqual([]);
    expect((await reasons()).filter((reason) => reason.startsWith(D3)).length).toBe(0);
  });

  it('and whoever is killed between goes on when it is done again', async () => {
    const stop = new AbortController();
    const { database } = record;
    let steps = 0;
    const halting = {
      ...database,
      transaction: ((work, how) => {
        // The first step that drops something.
        if (how?.longRunning === true && ++steps === 2) stop.abort(new Error('killed'));
        if (stop.signal.aborted) throw stop.signal.reason;
        return database.transaction(work, how);
      }) as typeof database.transaction,
    };
    await expect(pruneEntries({ database: halting, path: record.path, key: key(), before: BEFORE, by: 'a test' })).rejects.toThrow(
      'killed',
    );
    expect(summary(await record.verify())).toEqual([]);
    const between = (await reasons()).length;
    expect(await prune()).toEqual({ entries: 0, chains: 0 });
    expect([between >= 81, (await reasons()).length]).toEqual([true, 81]);
    expect(summary(await record.verify())).toEqual([]);
  });

  it('and between its steps it rests for as long as each has taken, so that other processes come in', async () => {
    const { database } = record;
    const steps: { readonly from: number; readonly to: number }[] = [];
    const watched = {
      ...database,
      transaction: (async (work, how) => {
        const from = performance.now();
        const answer = await database.transaction(work, how);
        if (how?.longRunning === true) steps.push({ from, to: performance.now() });
        return answer;
      }) as typeof database.transaction,
    };
    await pruneEntries({ database: watched, path: record.path, key: key(), before: BEFORE, by: 'a test' });
    const hurried = steps.filter(({ from, to }, at) => {
      const next = steps[at + 1];
      return next !== undefined && next.from - to < (to - from) / 2;
    });
    expect([steps.length > 1, hurried]).toEqual([true, []]);
  });

  it('and what checkpoints are made of is not missed', async () => {
    const lines: string[] = [];
    const checkpoints = createCheckpoints({ database: record.database, path: record.path, key: key(), log: (line) => lines.push(line) });
    checkpoints.start();
    await prune();
    await checkpoints.close();
    checkpoints.start();
    await prune(new Date(TODAY).toISOString().slice(0, 10));
    await checkpoints.close();
    expect(lines).toEqual([]);
    expect(summary(await record.verify())).toEqual([]);
  });

  it('and what is then done to the record shows', async () => {
    await prune();
    const [first] = await record.rows();
    await record.tamper(sql`delete from "_Decision" where "id" = ${first?.id}`);
    expect((await record.verify()).breaks.length).toBe(1);
  });

  it('and a cut that nobody signed does too', async () => {
    await record.tamper(
      sql`update "_Chain" set "cut" = ${JSON.stringify({ at: '', service: 'x', sequence: 20, hash: 'x', signature: '' })} where "id" = ${(await record.rows())[0]?.writer}`,
      sql`delete from "_Decision" where "at" < ${D2}`,
    );
    expect((await record.verify()).breaks.map(({ kind }) => kind)).toContain('signature');
  });

  it('and so does an entry that somebody has put where others were', async () => {
    const old = (await record.rows()).find(({ sequence }) => sequence === 3);
    await prune();
    expect(summary(await record.verify())).toEqual([]);
    await record.tamper(sql`insert into "_Decision" ("id", "at", "kind", "allowed", "writer", "sequence", "hash")
      values ('put', ${new Date().toISOString()}, 'access', ${onPostgres ? sql`true` : 1}, ${old?.writer}, 3, 'x')`);
    expect(summary(await record.verify())).toEqual(['inserted: entry put is before the cut of the chain, but too new to have been pruned']);
  });

  it('analytics of hours whose entries are gone go on', async () => {
    const from = Date.parse(`${D2}T00:00:05.000Z`);
    const ask = () => record.database.transaction((tx) => loadAnalytics(tx, { from }));
    const before = await ask();
    await prune();
    const after = await ask();
    expect([before.from, after.from]).toEqual([`${D2}T00:00:05.000Z`, `${D2}T00:00:00.000Z`]);
    expect(after.accessGrants + after.accessDenials).toBe(before.accessGrants + before.accessDenials + 10);
  });

  it('while others append: none of theirs is lost', async () => {
    const appended: string[] = [];
    let isOver = false;
    const load = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const entry = entryAt(new Date().toISOString(), 'load');
        await record.database.transaction((tx) => appendEntry(tx, entry));
        appended.push(entry.id);
      }
    });
    await prune().finally(() => {
      isOver = true;
    });
    await Promise.all(load);
    const ids = new Set((await record.rows()).map(({ id }) => id));
    expect([appended.length > 0, appended.filter((id) => !ids.has(id))]).toEqual([true, []]);
    expect(summary(await record.verify())).toEqual([]);
  });

  it.each([1, 2, 3, 5, 8, 13])('and who verifies meanwhile finds a whole record: at look %i', async (at) => {
    let looks = 0;
    const transaction: RunTransaction = async (work) => {
      if (++looks === at) await prune();
      return record.database.transaction(work);
    };
    const keys = loadPublicKeys(publicKeyPath(record.folder));
    expect(await verifyChains({ transaction, keys, known: new Map() })).toMatchObject({ breaks: [], breakCount: 0 });
  });

  it('and so does who goes on with a page behind which all is gone', async () => {
    const transaction: RunTransaction = (work) => record.database.transaction(work);
    const verifying = { transaction, keys: loadPublicKeys(publicKeyPath(record.folder)), known: new Map() };
    const first = await verifyChains({ ...verifying, limit: 7 });
    await prune();
    expect(await verifyChains({ ...verifying, from: first.next })).toMatchObject({ breaks: [], breakCount: 0 });
  });

  it('two at once do it once', async () => {
    const pruned = await Promise.all([prune(), prune(), prune()]);
    expect(pruned.reduce((sum, { entries }) => sum + entries, 0)).toBe(80);
    expect((await reasons()).filter((reason) => reason.endsWith('are pruned')).length).toBe(1);
    expect(summary(await record.verify())).toEqual([]);
  });
});

it('an old entry that stands behind a younger one stays, and goes with that', async () => {
  const times = [`${D2}T23:00:00.000Z`, `${D3}T00:00:01.000Z`, `${D2}T23:59:59.000Z`, `${D3}T00:00:02.000Z`];
  for (const time of times) await record.database.transaction((tx) => appendEntry(tx, entryAt(time)));
  expect(await prune()).toEqual({ entries: 1, chains: 1 });
  expect((await reasons()).filter((reason) => times.includes(reason))).toEqual(times.slice(1));
  expect(summary(await record.verify())).toEqual([]);
  expect(await prune(D4)).toEqual({ entries: 3, chains: 1 });
  expect((await reasons()).filter((reason) => times.includes(reason))).toEqual([]);
  expect(summary(await record.verify())).toEqual([]);
});

it('a chain that cannot be cut where it would be stays whole', async () => {
  await fillDays(record, [D1, D4], 5);
  const [first] = await record.rows();
  await record.tamper(sql`update "_Decision" set "hash" = null where "writer" = ${first?.writer}`);
  expect((await findCuts(record.database, BEFORE)).map(({ writer }) => writer)).not.toContain(first?.writer);
  await prune();
  expect((await record.rows()).filter(({ writer }) => writer === first?.writer).length).toBe(5);
});

it.runIf(onPostgres)('what had no partition is given one, and goes with it', async () => {
  await record.database.transaction((tx) => appendEntry(tx, entryAt(`${D1}T12:00:00.000Z`)));
  const inRest = () => record.database.transaction((tx) => tx.all(sql`select 1 from "_Decision$rest"`));
  expect((await inRest()).length).toBe(1);
  await prune();
  expect([(await inRest()).length, (await reasons()).includes(`${D1}T12:00:00.000Z`)]).toEqual([0, false]);
});

it('entries from before there were chains are counted, are on the record, and go', async () => {
  await fillDays(record, [D1, D4], 5);
  await record.tamper(sql`update "_Decision" set "writer" = null, "sequence" = null, "hash" = null`, sql`delete from "_Chain"`);
  expect(await planPruning(record.database, BEFORE)).toEqual({ entries: 10, chains: 0 });
  expect(await prune()).toEqual({ entries: 10, chains: 0 });
  const left = await reasons();
  expect([left.length, left.includes(`10 entries of 0 chains, from before ${BEFORE}, are pruned`)]).toEqual([11, true]);
  expect(await prune()).toEqual({ entries: 0, chains: 0 });
  expect((await reasons()).length).toBe(11);
});
