import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import { type Database, migrate } from '../storage/index.ts';
import { openTestDatabase, openUrl, type TestDatabase } from '../storage/storage.fixture.ts';
import { appendAuditEntries } from './append-entries.ts';
import { type AuditEntry, createEntryId } from './audit-entry.ts';
import { type EntryFilter, EXCLUDABLE_MEMBERS, matchesFilter } from './entry-filter.ts';
import { searchEntries } from './search-entries.ts';
import { findMatchingEntries, loadTail, loadTailEnd } from './tail-entries.ts';
import { parsePositionText, type TailPosition, toPositionText } from './tail-position.ts';

const HOUR = 3_600_000;

let opened: TestDatabase;
/** Each has hash chains of its own, as two processes have. */
let databases: readonly [Database, Database];
beforeAll(async () => {
  opened = openTestDatabase();
  await migrate(opened.database, SYSTEM);
  databases = [openUrl(opened.url), openUrl(opened.url)];
});
afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()));
  await opened.dispose();
});

function toEntry(members: Partial<AuditEntry> = {}): AuditEntry {
  const [id, at] = [createEntryId(), new Date().toISOString()];
  const request = { requestId: 'r1', ip: '192.0.2.1', epoch: 1 };
  return { id, at, kind: 'access', role: 'user', resource: 'Note', action: 'read', allowed: true, reason: 'test', ...request, ...members };
}

async function append(database: Database, entries: readonly AuditEntry[]): Promise<readonly string[]> {
  await database.transaction(async (tx) => appendAuditEntries(tx, entries));
  return entries.map(({ id }) => id);
}

const loadEnd = (): Promise<TailPosition> => databases[0].transaction(loadTailEnd);
/** Returns a position as a client that resumes sends it. */
const resent = (position: TailPosition): TailPosition => parsePositionText(toPositionText(position), Date.now());

/** Returns the ids of all entries after a position, read in pages of `limit` entries. */
async function readAll(from: TailPosition, limit: number): Promise<{ readonly ids: readonly string[]; readonly position: TailPosition }> {
  const ids: string[] = [];
  for (let position = from; ; ) {
    const page = await databases[1].transaction((tx) => loadTail(tx, position, limit));
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    ids.push(...page.entries.map(({ entry }) => entry.id));
    position = page.isComplete ? page.position : resent(page.position);
    if (page.isComplete) return { ids, position };
  }
}

describe('a tail', () => {
  it.each([1, 7, 1000])('contains every entry of several writers once, in pages of %i', async (limit) => {
    const start = await loadEnd();
    const expected: string[] = [];
    let position = start;
    const received: string[] = [];
    for (let round = 0; round < 5; round++) {
      const writers = Array.from({ length: 6 }, (_, index) => databases[index % 2] as Database);
      const appended = await Promise.all(
        writers.map((writer, index) =>
          append(
            writer,
            Array.from({ length: index + 1 }, () => toEntry()),
          ),
        ),
      );
      expected.push(...appended.flat());
      const page = await readAll(resent(position), limit);
      received.push(...page.ids);
      position = page.position;
    }
    expect(received.toSorted()).toEqual(expected.toSorted());
    expect((await readAll(start, limit)).ids.toSorted()).toEqual(expected.toSorted());
  });

  it('keeps the order of each chain, even if the times in a chain decrease', async () => {
    const start = await loadEnd();
    const times = [0, -5000, 3000, -9000].map((shift) => new Date(Date.now() + shift).toISOString());
    const expected = await append(
      databases[0],
      times.map((at) => toEntry({ at })),
    );
    expect((await readAll(start, 100)).ids).toEqual(expected);
  });

  it('the tail includes a chain that had no entries for hours and is not in the text of the position', async () => {
    const other = openUrl(opened.url);
    await append(other, [toEntry({ at: new Date(Date.now() - 5 * HOUR).toISOString() })]);
    const old = await databases[0].transaction((tx) => tx.one<{ writer: string }>(sql`select max("id") as "writer" from "_Chain"`));
    const fiveHoursAgo = new Date(Date.now() - 5 * HOUR).toISOString();
    await databases[0].transaction((tx) => tx.run(sql`update "_Chain" set "at" = ${fiveHoursAgo} where "id" = ${old?.writer}`));
    const start = (await readAll(await loadEnd(), 100)).position;
    const text = toPositionText(start);
    const halfAnHourAgo = new Date(Date.now() - HOUR / 2).toISOString();
    const expected = await append(other, [toEntry({ at: halfAnHourAgo }), toEntry()]);
    await other.close();
    expect(resent(start).heads.has(old?.writer ?? '')).toBe(false);
    expect((await readAll(parsePositionText(text, Date.now()), 1)).ids).toEqual(expected);
    expect((await readAll(start, 100)).ids).toEqual(expected);
  });

  it('the tail includes the entries of a chain that began after the position', async () => {
    const start = resent(await loadEnd());
    const other = openUrl(opened.url);
    const expected = await append(other, [toEntry(), toEntry()]);
    await other.close();
    expect((await readAll(start, 1)).ids).toEqual(expected);
  });
});

describe('a filter', () => {
  const members: readonly Partial<AuditEntry>[] = [
    {},
    { kind: 'admin', userId: 'u1', role: 'admin', resource: 'Memo', action: 'update', recordId: 'r1', allowed: false, outcome: 'X' },
    { userId: "u'2\n", ruleId: 'rule', policyId: 'policy', requestId: 'r2', ip: '::1', at: '2026-01-31T09:00:00.000Z' },
    { kind: 'admin', resource: 'Admin' },
    { kind: 'access', resource: '_Decision', allowed: false },
    { kind: 'auth', resource: 'Auth', action: 'refresh' },
    { kind: 'auth', resource: 'Auth', action: 'refresh', allowed: false },
  ];
  it.each<EntryFilter>([
    {},
    ...EXCLUDABLE_MEMBERS.flatMap((member) =>
      members.flatMap(({ [member]: value }) => (value === undefined ? [] : [{ [member]: value }, { not: { [member]: [value, 'other'] } }])),
    ),
    { allowed: true },
    { adminReads: true },
    { adminReads: false },
    { refreshes: false },
    { adminReads: false, refreshes: false },
    { allowed: false, userId: 'u1' },
    { from: Date.parse('2026-01-31T09:00:00.000Z'), to: Date.parse('2026-01-31T09:00:00.001Z') },
    { to: Date.parse('2026-01-31T09:00:00.000Z') },
  ])('matches in memory the entries that it matches in SQL: %j', async (filter) => {
    const requestId = `filter ${createEntryId()}`;
    const entries = members.map((each) => toEntry({ requestId, ...each }));
    // A chain of its own, because other tests expect recent times.
    const other = openUrl(opened.url);
    await append(other, entries);
    await other.close();
    const ids = new Set(entries.map(({ id }) => id));
    const found = await databases[0].transaction((tx) => searchEntries(tx, { ...filter, limit: 1000 }));
    const matching = entries.filter((entry) => matchesFilter(filter, entry));
    expect(matching.map(({ id }) => id).toSorted()).toEqual(
      found.entries
        .map(({ id }) => id)
        .filter((id) => ids.has(id))
        .toSorted(),
    );
  });
});

it('the entries that match a condition are found by their ids', async () => {
  const entries = [toEntry({ resource: 'Note' }), toEntry({ resource: 'Memo' }), toEntry({ resource: 'Note' })];
  await append(databases[0], entries);
  const found = await databases[0].transaction((tx) => findMatchingEntries(tx, entries.slice(1), sql`"resource" = 'Note'`));
  expect([...found]).toEqual([entries[2]?.id]);
  expect(await databases[0].transaction((tx) => findMatchingEntries(tx, [], sql`1 = 1`))).toEqual(new Set());
});
