import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createId } from '../../ids.ts';
import { createPartitions, type Transaction } from '../../storage/index.ts';
import { explain, onPostgres } from '../../storage/storage.fixture.ts';
import { AUDIT_LOG } from '../append-entries.ts';
import {
  type AuditEntry,
  appendEntry,
  countEntries,
  countValues,
  createEntryId,
  FACET_FIELDS,
  loadAnalytics,
  loadChainHeads,
  loadEntry,
  searchEntries,
} from '../index.ts';
import { type EntryLocation, loadHash } from '../integrity/entry-rows.ts';
import { verifyChains } from '../integrity/index.ts';
import { openTestAuditLog, type TestAuditLog, testEntry } from '../integrity/integrity.fixture.ts';
import { AUDIT_RESOURCE, findCuts } from './prune-entries.ts';

const DAY = 24 * 60 * 60_000;
const NOW = Date.now();
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const AGES = Array.from({ length: 40 }, (_, at) => at * 5);

/** Returns an id with the given time. */
function idAt(time: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${createId().slice(13)}`;
}

let auditLog: TestAuditLog;
const entries: AuditEntry[] = [];
const places = new Map<string, EntryLocation>();
beforeAll(async () => {
  auditLog = await openTestAuditLog();
  for (const age of AGES.toReversed()) {
    const time = NOW - age * DAY;
    const entry = { ...testEntry(2), id: idAt(time), at: new Date(time).toISOString(), userId: `${age} days` };
    entries.unshift(entry);
    await auditLog.database.transaction(async (tx) => appendEntry(tx, entry));
    await createPartitions(auditLog.database, AUDIT_RESOURCE);
  }
  for (const { id, writer, sequence } of await auditLog.rows()) places.set(id, { writer, sequence });
});
afterAll(() => auditLog.dispose());

function placeOf(index: number): EntryLocation {
  const { id, at } = entries[index] as AuditEntry;
  return { ...(places.get(id) as EntryLocation), at };
}

const read = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => auditLog.database.transaction(work);

/** Returns the lines of the query plan of each statement that reads entries. */
async function plansOf(work: (tx: Transaction) => Promise<unknown>): Promise<readonly (readonly string[])[]> {
  return auditLog.database.transaction(async (tx) => {
    const queries: Parameters<typeof explain>[1][] = [];
    // A proxy of an empty object, because a proxy cannot replace the methods of a frozen one.
    const watched = new Proxy({} as Transaction, {
      get: (_, name) =>
        name === 'all' || name === 'one'
          ? (query: (typeof queries)[number]) => {
              queries.push(query);
              return tx[name](query);
            }
          : Reflect.get(tx, name),
    });
    await work(watched);
    const plans: (readonly string[])[] = [];
    for (const query of queries) plans.push(await explain(tx, query));
    return plans.filter((plan) => plan.some((line) => /_Decision\b(?!Hour)/.test(line)));
  });
}

/** Returns the oldest day whose partition is read. */
function oldestIn(plans: readonly (readonly string[])[]): string | undefined {
  return plans.flatMap((plan) => plan.flatMap((line) => /_Decision\$(\d{4}-\d\d-\d\d)"/.exec(line)?.[1] ?? [])).toSorted()[0];
}

/** Returns the lines of plans that scan a table or sort. */
function wastefulLinesOf(plans: readonly (readonly string[])[], isInOrder: boolean): readonly string[] {
  expect(plans.length).toBeGreaterThan(0);
  const lines = plans.flat().map((line) => line.trim().replace('->  ', ''));
  const wrong = onPostgres ? [/^Seq Scan on "_Decision/, /^Sort$/] : [/^SCAN _Decision(?! USING)/, /TEMP B-TREE FOR ORDER BY/];
  return lines.filter((line) => wrong.slice(0, isInOrder ? 2 : 1).some((each) => each.test(line)));
}

describe('entries', () => {
  it('finds entries page by page, regardless of their age', async () => {
    const found: AuditEntry[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await read((tx) => searchEntries(tx, { limit: 7, cursor }));
      found.push(...page.entries);
      cursor = page.next;
      if (cursor === undefined) break;
    }
    expect(found.map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
  });

  it.each(AGES.filter((_, at) => at % 6 === 0))('finds entries by user, between two times, and by id: %i days old', async (age) => {
    const expected = entries.find(({ userId }) => userId === `${age} days`) as AuditEntry;
    const by = (query: object) => read((tx) => searchEntries(tx, { limit: 2, ...query })).then((page) => page.entries.map(({ id }) => id));
    const time = Date.parse(expected.at);
    expect(await by({ userId: `${age} days` })).toEqual([expected.id]);
    expect(await by({ from: time, to: time + 1 })).toEqual([expected.id]);
    // At the edge of the range that is searched first.
    expect(await by({ userId: `${age} days`, to: time + 2 * DAY })).toEqual([expected.id]);
    expect((await read((tx) => loadEntry(tx, expected.id)))?.at).toBe(expected.at);
  });

  it('finds an entry by its sequence number, even with a wrong time', async () => {
    const { writer, sequence, at } = placeOf(3);
    const hash = await read((tx) => loadHash(tx, { writer, sequence }));
    expect(hash).toHaveLength(43);
    for (const other of [at, new Date(NOW).toISOString(), '', 'x'])
      expect(await read((tx) => loadHash(tx, { writer, sequence, at: other }))).toBe(hash);
    expect(await read((tx) => loadHash(tx, { writer, sequence: 1000, at }))).toBeUndefined();
  });

  it('finds an entry by an id with a wrong time, and none by an unknown id', async () => {
    const entry = { ...testEntry(2), id: createEntryId(), at: new Date(NOW - 100 * DAY).toISOString() };
    const other = await openTestAuditLog();
    try {
      await other.database.transaction(async (tx) => appendEntry(tx, entry));
      await other.database.transaction(async (tx) => {
        expect((await loadEntry(tx, entry.id))?.at).toBe(entry.at);
        for (const id of [createEntryId(), 'x', '', '00000000-0000-7000-8000-000000000000'])
          expect(await loadEntry(tx, id)).toBeUndefined();
      });
    } finally {
      await other.dispose();
    }
  });
});

describe('partitions that a query reads', () => {
  it.each<[string, number, (tx: Transaction) => Promise<unknown>]>([
    ['the newest', 2, (tx) => searchEntries(tx, { limit: 0 })],
    ['the newest of one user', 8, (tx) => searchEntries(tx, { limit: 0, userId: '5 days' })],
    ['some days', 30, (tx) => searchEntries(tx, { limit: 50, from: NOW - 30 * DAY, to: NOW - 20 * DAY })],
    ['an entry by its id', 12, (tx) => loadEntry(tx, entries[2]?.id ?? '')],
    ['an entry by its id and time', 10, (tx) => tx.one(AUDIT_LOG.findCommitted(entries[2] as AuditEntry))],
    ['an entry by its sequence number and the time of its checkpoint', 11, (tx) => loadHash(tx, placeOf(2))],
    ['the heads of chains', 7, (tx) => loadChainHeads(tx, { newest: 32 })],
  ])('a query for %s reads only the partitions of its days, by an index', async (what, days, work) => {
    const plans = await plansOf(work);
    if (onPostgres) expect(oldestIn(plans)).toBeDefined();
    if (onPostgres) expect((oldestIn(plans) ?? '') >= dayOf(NOW - days * DAY)).toBe(true);
    expect(wastefulLinesOf(plans, what !== 'the heads of chains')).toEqual([]);
  });

  it('analytics read only the partitions of their days, including the first hour', async () => {
    const plans = await plansOf((tx) => loadAnalytics(tx, { from: NOW - 5 * DAY }));
    expect(wastefulLinesOf(plans, false)).toEqual([]);
    // The newest 20 entries may have any age.
    if (onPostgres) expect(oldestIn(plans.slice(0, 1))).toBe(dayOf(NOW - 5 * DAY));
  });

  it('counts by value and over time read only the entries of the period', async () => {
    const period = { from: NOW - 5 * DAY, to: NOW - 4 * DAY };
    const plans = [
      ...(await plansOf((tx) => countValues(tx, { from: period.from }, { fields: FACET_FIELDS, top: 1 }))),
      ...(await plansOf((tx) => countEntries(tx, {}, { ...period, buckets: 10 }))),
    ];
    expect(wastefulLinesOf(plans, false)).toEqual([]);
    expect(plans.length).toBeGreaterThan(FACET_FIELDS.length);
    if (onPostgres) expect(oldestIn(plans)).toBe(dayOf(period.from));
    else for (const plan of plans) expect(plan.join()).toMatch(/^SEARCH _Decision USING INDEX ix__Decision\$at \(at>\?/);
  });

  it('verification and pruning read chains in order', async () => {
    const transactionOf =
      (tx: Transaction) =>
      <T>(work: (of: Transaction) => Promise<T>) =>
        work(tx);
    const verifying = await plansOf((tx) => verifyChains({ transaction: transactionOf(tx), keys: new Map(), known: new Map() }));
    expect(wastefulLinesOf(verifying, false)).toEqual([]);
    expect(verifying.flat().filter((line) => /Incremental Sort|LAST TERM OF ORDER BY/.test(line)).length).toBeGreaterThan(0);
    const database = (tx: Transaction) => ({ ...auditLog.database, transaction: transactionOf(tx) });
    expect(wastefulLinesOf(await plansOf((tx) => findCuts(database(tx), dayOf(NOW))), false)).toEqual([]);
  });

  it.runIf(onPostgres)('pruning reads no partition for chains without old entries', async () => {
    const plans = await plansOf((tx) => findCuts({ ...auditLog.database, transaction: (work) => work(tx) }, dayOf(NOW - 300 * DAY)));
    expect([plans.length, oldestIn(plans)]).toEqual([1, undefined]);
  });
});
