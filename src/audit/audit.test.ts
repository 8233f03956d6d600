import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import { type Database, migrate } from '../storage/index.ts';
import { openTestDatabase, openUrl, type TestDatabase } from '../storage/storage.fixture.ts';
import { loadAnalytics, parseTimeframe } from './analytics.ts';
import { appendAuditEntries, appendEntry } from './append-entries.ts';
import { type AuditEntry, createEntryId } from './audit-entry.ts';
import { type EntryQuery, loadEntry, searchEntries } from './search-entries.ts';

const HOUR = 3_600_000;
const T0 = Date.UTC(2026, 0, 31, 14, 30);

let opened: TestDatabase;
let database: Database;

beforeAll(async () => {
  opened = openTestDatabase();
  await migrate(opened.database, SYSTEM);
});
afterAll(() => opened.dispose());
beforeEach(async () => {
  const tables = ['_Decision', '_DecisionHour', '_Chain', '_Policy'];
  await opened.database.transaction(async (tx) => {
    for (const table of tables) await tx.run(sql`delete from ${sql.table(table)}`);
  });
  // A new connection begins a new chain.
  database = openUrl(opened.url);
});
afterEach(() => database.close());

function entry(given: Partial<AuditEntry> = {}, at = T0): AuditEntry {
  return {
    id: createEntryId(),
    at: new Date(at).toISOString(),
    kind: 'access',
    role: 'anon',
    resource: 'Article',
    action: 'read',
    allowed: false,
    reason: 'no rule matched',
    epoch: 3,
    requestId: 'r1',
    ip: '192.0.2.1',
    ...given,
  };
}

const append = (...entries: readonly AuditEntry[]): Promise<void> =>
  database.transaction(async (tx) => {
    for (const each of entries) appendEntry(tx, each);
  });
const search = (query: Partial<EntryQuery> = {}) => database.transaction((tx) => searchEntries(tx, { limit: 100, ...query }));
const load = (id: string) => database.transaction((tx) => loadEntry(tx, id));
const hours = () =>
  database.transaction((tx) => tx.all(sql`select "hour", "resource", "grants", "denials" from "_DecisionHour" order by "id"`));

describe('appendEntry', () => {
  it('stores every member of an entry', async () => {
    const whole = entry({
      userId: 'u1',
      recordId: 'a1',
      allowed: true,
      ruleId: 'rule',
      policyId: 'policy',
      outcome: 'RECORD_VERSION',
      facts: { 'user.department': 'news', 'resource.tags': ['a', 1, null] },
    });
    await append(whole);
    expect(await load(whole.id)).toEqual(whole);
  });

  it('stores null for absent members', async () => {
    const bare = entry();
    await append(bare);
    expect(JSON.parse(JSON.stringify(await load(bare.id)))).toEqual(bare);
  });

  it('counts decisions by hour and resource, without admin changes', async () => {
    await append(
      entry({ allowed: true }),
      entry({ allowed: true }, T0 + 29 * 60_000),
      entry(),
      entry(),
      entry({}, T0 + 30 * 60_000),
      entry({ resource: 'User' }),
      entry({ kind: 'admin', resource: 'Policy' }),
    );
    expect(await hours()).toEqual([
      { hour: '2026-01-31T14:00:00.000Z', resource: 'Article', grants: 2, denials: 2 },
      { hour: '2026-01-31T14:00:00.000Z', resource: 'User', grants: 0, denials: 1 },
      { hour: '2026-01-31T15:00:00.000Z', resource: 'Article', grants: 0, denials: 1 },
    ]);
  });

  it('an appended entry is rolled back with its transaction, including the count', async () => {
    const work = database.transaction(async (tx) => {
      appendEntry(tx, entry());
      throw new Error('undone');
    });
    await expect(work).rejects.toThrow('undone');
    expect((await search()).entries).toEqual([]);
    expect(await hours()).toEqual([]);
  });

  it.each([
    ['SQL', `'); drop table "_Decision"; --`],
    ['line breaks', 'a\nb\r\n{"level":"error"}'],
    ['the name of an inherited property', '__proto__'],
  ])('stores a value unchanged: %s', async (_, text) => {
    const nasty = entry({ recordId: text, requestId: text, ip: text, reason: text, userId: text });
    await append(nasty);
    expect(await load(nasty.id)).toMatchObject({ recordId: text, requestId: text, ip: text, reason: text, userId: text });
  });

  it('truncates values that clients choose, and stores no unpaired surrogate or NUL', async () => {
    const long = entry({ recordId: 'x'.repeat(100_000), requestId: `${'y'.repeat(199)}😀`, ip: 'a\u0000b', reason: 'z'.repeat(5000) });
    await append(long);
    const kept = await load(long.id);
    expect(kept?.recordId).toHaveLength(200);
    expect(kept?.requestId).toBe(`${'y'.repeat(199)}\ufffd`);
    expect(kept?.ip).toBe('a\ufffdb');
    expect(kept?.reason).toHaveLength(2000);
  });
});

describe('appendAuditEntries', () => {
  it('begins no chain without entries', async () => {
    await database.transaction(async (tx) => {
      appendAuditEntries(tx, []);
      expect(await tx.all(sql`select "id" from "_Chain"`)).toEqual([]);
      appendAuditEntries(tx, [entry(), entry()]);
    });
    const rows = await database.transaction((tx) => tx.all(sql`select "sequence" from "_Decision" order by "sequence"`));
    expect(rows).toEqual([{ sequence: 1 }, { sequence: 2 }]);
  });
});

describe('searchEntries', () => {
  const [a, b, c, d] = [
    entry({ userId: 'u1', role: 'user', allowed: true }, T0),
    entry({ userId: 'u2', role: 'user', action: 'list' }, T0 + 1000),
    entry({ resource: 'User' }, T0 + 2000),
    entry({ kind: 'admin', userId: 'u1', role: 'admin', resource: 'Policy', action: 'update', allowed: true }, T0 + 3000),
  ] as const;
  const rows: readonly (readonly [Partial<EntryQuery>, readonly AuditEntry[]])[] = [
    [{}, [d, c, b, a]],
    [{ kind: 'access' }, [c, b, a]],
    [{ kind: 'admin' }, [d]],
    [{ userId: 'u1' }, [d, a]],
    [{ userId: `u1' or 1 = 1` }, []],
    [{ role: 'user' }, [b, a]],
    [{ resource: 'Article' }, [b, a]],
    [{ action: 'list' }, [b]],
    [{ allowed: true }, [d, a]],
    [{ allowed: false, resource: 'Article' }, [b]],
    [{ from: T0 + 1000 }, [d, c, b]],
    [{ to: T0 + 1000 }, [a]],
    [{ from: T0 + 1000, to: T0 + 3000 }, [c, b]],
  ];

  it.each(rows)('finds the entries of %j, newest first', async (query, expected) => {
    await append(a, b, c, d);
    expect((await search(query)).entries.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
  });

  it.each([1, 2, 3, 7, 20])('returns every entry once in pages of %i, even with equal times', async (limit) => {
    const all = Array.from({ length: 20 }, (_, index) => entry({}, T0 + Math.floor(index / 6)));
    await append(...all);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await search({ limit, cursor });
      seen.push(...page.entries.map(({ id }) => id));
      cursor = page.next;
    } while (cursor !== undefined);
    expect(seen).toEqual(all.map(({ id }) => id).reverse());
  });

  for (const cursor of ['', 'x', Buffer.from('now me').toString('base64url'), 'A'.repeat(100_000)])
    it(`refuses the cursor "${cursor.slice(0, 20)}"`, async () => {
      await expect(search({ cursor })).rejects.toMatchObject({ code: 'REQUEST_CURSOR' });
    });

  it('finds nothing under an unknown id', async () => {
    expect(await load('nothing')).toBeUndefined();
  });
});

describe('loadAnalytics', () => {
  const since = (from: number) => database.transaction((tx) => loadAnalytics(tx, { from }));

  it('counts policies by type and activity', async () => {
    await database.transaction((tx) =>
      tx.run(sql`insert into "_Policy" ("id", "name", "type", "isActive") values
        ('1', 'a', 'ROLE_BASED', true), ('2', 'b', 'ROLE_BASED', false), ('3', 'c', 'CUSTOM', true)`),
    );
    expect(await since(T0)).toMatchObject({
      totalPolicies: 3,
      activePolicies: 2,
      policyTypes: { ROLE_BASED: 2, ATTRIBUTE_BASED: 0, CUSTOM: 1 },
    });
  });

  it('returns zeros for an empty audit log', async () => {
    expect(await since(T0)).toEqual({
      totalPolicies: 0,
      activePolicies: 0,
      policyTypes: { ROLE_BASED: 0, ATTRIBUTE_BASED: 0, CUSTOM: 0 },
      from: new Date(T0).toISOString(),
      accessGrants: 0,
      accessDenials: 0,
      recentActivity: [],
      topResources: [],
    });
  });

  it('counts decisions from the given time, to the millisecond', async () => {
    await append(entry({}, T0 - 1), entry({}, T0), entry({ allowed: true }, T0 + HOUR), entry({ kind: 'admin' }, T0 + HOUR));
    expect(await since(T0 - 1)).toMatchObject({ accessGrants: 1, accessDenials: 2 });
    expect(await since(T0)).toMatchObject({ accessGrants: 1, accessDenials: 1, from: '2026-01-31T14:30:00.000Z' });
    expect(await since(T0 + 1)).toMatchObject({ accessGrants: 1, accessDenials: 0 });
  });

  it('counts the whole first hour if it has too many entries, and returns its begin', async () => {
    await append(entry({}, T0));
    await database.transaction((tx) => tx.run(sql`update "_DecisionHour" set "denials" = 50000`));
    expect(await since(T0)).toMatchObject({ accessDenials: 50_000, from: '2026-01-31T14:00:00.000Z' });
  });

  it('returns the ten resources with the most decisions', async () => {
    const resources = Array.from({ length: 12 }, (_, index) => `R${String(index).padStart(2, '0')}`);
    await append(...resources.flatMap((resource, index) => Array.from({ length: 12 - index }, () => entry({ resource }))));
    await append(entry({ resource: 'R01', allowed: true }, T0 + HOUR), entry({ resource: 'R01', allowed: true }, T0 + HOUR));
    const { topResources } = await since(T0);
    expect(topResources.map(({ resource }) => resource)).toEqual(['R01', ...resources.filter((name) => name !== 'R01').slice(0, 9)]);
    expect(topResources[0]).toEqual({ resource: 'R01', grants: 2, denials: 11, total: 13 });
  });

  it('returns the newest twenty decisions, without admin changes', async () => {
    await append(...Array.from({ length: 25 }, (_, index) => entry({ recordId: String(index) }, T0 + index)));
    await append(entry({ kind: 'admin' }, T0 + 100));
    const { recentActivity } = await since(T0);
    expect(recentActivity.map(({ recordId }) => Number(recordId))).toEqual(Array.from({ length: 20 }, (_, index) => 24 - index));
    expect(Object.keys(recentActivity[0] ?? {})).toEqual([
      'id',
      'at',
      'userId',
      'role',
      'resource',
      'action',
      'recordId',
      'allowed',
      'reason',
    ]);
  });
});

describe('parseTimeframe', () => {
  it.each([
    [undefined, 168],
    ['7d', 168],
    ['1h', 1],
    ['2w', 336],
    ['3660d', 87_840],
  ])('parses %s to %i hours', (text, expected) => {
    expect(parseTimeframe(text)).toBe(expected * HOUR);
  });

  it.each(['', '0d', '7', 'd', '-1d', '1.5d', '7D', '7m', '7y', ' 7d', '7d7d', '3661d', '999999w', '1e3d', '٧d'])(
    'refuses the timeframe "%s"',
    (text) => {
      expect(() => parseTimeframe(text)).toThrow(expect.objectContaining({ code: 'REQUEST_PARAMETER' }));
    },
  );
});
