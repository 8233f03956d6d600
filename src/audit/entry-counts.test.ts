/** Searches, histograms and facets agree with a walk over all entries: in short and long attempts, in windows of any size, in both orders. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDeep } from '../../test/budget.ts';
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import { type Database, migrate, type Transaction } from '../storage/index.ts';
import { onPostgres, openTestDatabase, openUrl, type TestDatabase } from '../storage/storage.fixture.ts';
import { appendAuditEntries } from './append-entries.ts';
import { type AuditEntry, createEntryId } from './audit-entry.ts';
import { countEntries, countValues, FACET_FIELDS } from './count-entries.ts';
import { type EntryFilter, EXCLUDABLE_MEMBERS, matchesFilter, type SearchLimits } from './entry-filter.ts';
import { searchEntries } from './search-entries.ts';

const T0 = Date.UTC(2026, 0, 31, 14, 30);
const MINUTE = 60_000;

let opened: TestDatabase;
let database: Database;
let entries: readonly AuditEntry[];

/** Returns an item by a number that is scattered over the list. */
const pick = <T>(list: readonly T[], seed: number): T => list[(seed * 7919) % list.length] as T;

/** Returns entries over some hours, several of them at the same time. */
function toEntries(count: number): readonly AuditEntry[] {
  return Array.from({ length: count }, (_, index): AuditEntry => {
    const allowed = pick([true, true, false], index);
    return {
      id: createEntryId(),
      at: new Date(T0 + Math.floor(index / 3) * 97_000).toISOString(),
      kind: pick(['access', 'access', 'admin', 'auth'], index + 1),
      userId: pick(['u1', 'u2', 'u3', undefined], index + 2),
      role: pick(['user', 'admin'], index + 3),
      resource: pick(['Article', 'Comment', 'User', 'Admin', '_Decision'], index + 4),
      action: pick(['read', 'list', 'update', 'refresh'], index + 5),
      recordId: pick(['r1', 'r2', undefined], index + 6),
      allowed,
      reason: allowed ? 'allowed' : 'no rule matched',
      ruleId: allowed ? pick(['rule1', 'rule2'], index) : undefined,
      policyId: allowed ? 'policy1' : undefined,
      epoch: 3,
      requestId: `request ${index % 50}`,
      ip: pick(['192.0.2.1', '192.0.2.2'], index + 7),
      outcome: pick([undefined, undefined, 'VALUE_INVALID'], index + 8),
    };
  });
}

beforeAll(async () => {
  opened = openTestDatabase();
  await migrate(opened.database, SYSTEM);
  database = openUrl(opened.url);
  // More than the largest window.
  entries = toEntries(120);
  await database.transaction(async (tx) => appendAuditEntries(tx, entries));
});
afterAll(async () => {
  await database.close();
  await opened.dispose();
});

/** Rows of a window. Few sizes on PostgreSQL, where each window takes many times as long: the code that makes them is that of SQLite. */
const WINDOWS = onPostgres && !isDeep ? [7, undefined] : [1, 7, 100, undefined];

/** Runs work in a short attempt, and in long attempts with windows of different sizes. */
async function inAttempts<T>(work: (tx: Transaction, limits: SearchLimits) => Promise<T>): Promise<readonly T[]> {
  const results = [await database.transaction((tx) => work(tx, {}))];
  for (const windowRows of WINDOWS) {
    // A busy machine must not end a search early.
    const limits = { windowRows, milliseconds: 60_000 };
    results.push(await database.transaction((tx) => work(tx, limits), { beginsLong: true }));
  }
  return results;
}

const isAdminRead = ({ allowed, kind, resource }: AuditEntry): boolean =>
  allowed && ((kind === 'admin' && resource === 'Admin') || (kind === 'access' && resource === '_Decision'));

const FILTERS: readonly (readonly [name: string, filter: EntryFilter, matches: (entry: AuditEntry) => boolean])[] = [
  ['all', {}, () => true],
  ['a user', { userId: 'u1' }, ({ userId }) => userId === 'u1'],
  ['a record and a resource', { recordId: 'r2', resource: 'User' }, ({ recordId, resource }) => recordId === 'r2' && resource === 'User'],
  ['denials', { allowed: false }, ({ allowed }) => !allowed],
  ['a rule', { ruleId: 'rule2' }, ({ ruleId }) => ruleId === 'rule2'],
  ['a policy and a kind', { policyId: 'policy1', kind: 'access' }, ({ policyId, kind }) => policyId === 'policy1' && kind === 'access'],
  ['a request', { requestId: 'request 3' }, ({ requestId }) => requestId === 'request 3'],
  [
    'an address and an outcome',
    { ip: '192.0.2.2', outcome: 'VALUE_INVALID' },
    ({ ip, outcome }) => ip === '192.0.2.2' && outcome !== undefined,
  ],
  ['a role and an action', { role: 'admin', action: 'list' }, ({ role, action }) => role === 'admin' && action === 'list'],
  ['a time', { from: T0 + 97_000, to: T0 + 30 * 97_000 }, ({ at }) => Date.parse(at) >= T0 + 97_000 && Date.parse(at) < T0 + 30 * 97_000],
  ['a condition', { where: sql`"reason" = 'allowed'`, role: 'user' }, ({ reason, role }) => reason === 'allowed' && role === 'user'],
  ['nothing', { userId: 'unknown' }, () => false],
  ['all but a resource', { not: { resource: ['Article'] } }, ({ resource }) => resource !== 'Article'],
  [
    'all but some users, including those without a user',
    { not: { userId: ['u1', 'u2', 'unknown'] } },
    ({ userId }) => userId === undefined || userId === 'u3',
  ],
  [
    'a user, without an outcome and two actions',
    { userId: 'u3', not: { outcome: ['VALUE_INVALID'], action: ['list', 'read'] } },
    ({ userId, outcome, action }) => userId === 'u3' && outcome === undefined && action !== 'list' && action !== 'read',
  ],
  ['no reads of admins', { adminReads: false }, (entry) => !isAdminRead(entry)],
  ['no refreshes', { refreshes: false }, ({ allowed, kind, action }) => !(allowed && kind === 'auth' && action === 'refresh')],
  ['a value that is also excluded', { role: 'user', not: { role: ['user'] } }, () => false],
];

const byTime = (a: AuditEntry, b: AuditEntry): number => (a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? -1 : 1);

describe.each(FILTERS)('entries filtered by %s', (_, filter, matches) => {
  it.each(['newest', 'oldest'] as const)('a search finds them page by page in the order %s', async (order) => {
    const expected = entries.filter(matches).toSorted(byTime);
    if (order === 'newest') expected.reverse();
    for (const limit of [13, 1000]) {
      const pages = await inAttempts(async (tx, limits) => {
        const found: string[] = [];
        for (let cursor: string | undefined; ; ) {
          const page = await searchEntries(tx, { ...filter, order, limit, cursor, limits });
          found.push(...page.entries.map(({ id }) => id));
          cursor = page.next;
          if (cursor === undefined) return found;
        }
      });
      for (const found of pages) expect(found).toEqual(expected.map(({ id }) => id));
    }
  });

  it('facets count them by the values of every member', async () => {
    const found = entries.filter(matches);
    for (const counted of await inAttempts((tx, limits) => countValues(tx, { ...filter, limits }, { fields: FACET_FIELDS, top: 2 }))) {
      expect(counted).toMatchObject({ isPartial: false, total: found.length });
      for (const field of FACET_FIELDS) {
        const counts = Map.groupBy(found, (entry) => entry[field] ?? null);
        const expected = [...counts].map(([value, own]) => ({ value, count: own.length }));
        const sorted = expected.toSorted(
          (a, b) => b.count - a.count || (a.value === null ? 1 : b.value === null ? -1 : a.value < b.value ? -1 : 1),
        );
        expect(counted.facets[field], field).toEqual(sorted.slice(0, 2));
      }
    }
  });
});

it('an exclusion agrees with a walk over all entries, alone and beside a condition on another member', async () => {
  for (const [index, member] of EXCLUDABLE_MEMBERS.entries()) {
    const values = [...new Set(entries.flatMap((entry) => entry[member] ?? []))];
    const other = pick(EXCLUDABLE_MEMBERS, index + 1);
    const wanted = entries.map((entry) => entry[other]).find((value) => value !== undefined);
    for (const excluded of [values.slice(0, 1), values.slice(1), values, [...values.slice(0, 1), 'unknown']]) {
      for (const required of [undefined, wanted]) {
        const filter = { not: { [member]: excluded }, ...(required !== undefined && { [other]: required }) };
        const expected = entries.filter(
          (entry) => !excluded.includes(entry[member] ?? 'no value') && (required === undefined || entry[other] === required),
        );
        const found = await database.transaction((tx) => searchEntries(tx, { ...filter, limit: 1000 }));
        expect(new Set(found.entries.map(({ id }) => id)), JSON.stringify(filter)).toEqual(new Set(expected.map(({ id }) => id)));
        expect(entries.filter((entry) => matchesFilter(filter, entry))).toEqual(expected);
      }
    }
  }
});

const OF_ANY_TIME = FILTERS.filter(([, { from }]) => from === undefined);

describe.each(OF_ANY_TIME)('a histogram of entries filtered by %s', (_, filter, matches) => {
  it.each([
    [1, 60 * MINUTE],
    [10, 60 * MINUTE],
    [500, 5 * MINUTE],
    [60, 400 * MINUTE],
  ])('counts all entries in at most %i buckets', async (buckets, length) => {
    const range = { from: T0 + 1234, to: T0 + 1234 + length, buckets };
    const found = entries.filter((entry) => matches(entry) && Date.parse(entry.at) >= range.from && Date.parse(entry.at) < range.to);
    for (const counted of await inAttempts((tx, limits) => countEntries(tx, { ...filter, limits }, range))) {
      expect(counted.isPartial).toBe(false);
      expect(counted.buckets.length).toBeLessThanOrEqual(buckets);
      const byBucket = Map.groupBy(found, ({ at }) => Math.floor(Date.parse(at) / counted.step) * counted.step);
      const expected = counted.buckets.map(({ at }) => {
        const own = byBucket.get(Date.parse(at)) ?? [];
        const allowed = own.filter((entry) => entry.allowed).length;
        return { at, allowed, denied: own.length - allowed };
      });
      expect(counted.buckets).toEqual(expected);
      expect(counted.buckets.reduce((sum, { allowed, denied }) => sum + allowed + denied, 0)).toBe(found.length);
    }
  });
});

describe('a search whose time is up', () => {
  const limits = { milliseconds: 0, windowRows: 15 };
  const inLong = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => database.transaction(work, { beginsLong: true });

  it('ends the page between two windows, and the next page continues there', async () => {
    const sizes: number[] = [];
    const found: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await inLong((tx) => searchEntries(tx, { userId: 'u1', action: 'list', limit: 50, cursor, limits }));
      sizes.push(page.entries.length);
      found.push(...page.entries.map(({ id }) => id));
      expect(page.isPartial ?? false).toBe(page.next !== undefined);
      cursor = page.next;
      if (cursor === undefined) break;
    }
    const expected = entries
      .filter(({ userId, action }) => userId === 'u1' && action === 'list')
      .toSorted(byTime)
      .reverse();
    expect(found).toEqual(expected.map(({ id }) => id));
    expect(sizes.length).toBeGreaterThan(2);
  });

  it('counts the newest entries and names the time from which all are counted', async () => {
    const counted = await inLong((tx) => countValues(tx, { limits }, { fields: ['kind'], top: 10 }));
    expect(counted).toMatchObject({ isPartial: true, total: 15 });
    const range = { from: T0, to: T0 + 400 * MINUTE, buckets: 10 };
    const histogram = await inLong((tx) => countEntries(tx, { limits }, range));
    const newest = entries.toSorted(byTime).reverse().slice(0, 15);
    expect([counted.completeFrom, histogram.completeFrom]).toEqual([newest.at(-1)?.at, newest.at(-1)?.at]);
    expect(histogram.buckets.reduce((sum, { allowed, denied }) => sum + allowed + denied, 0)).toBe(15);
  });
});
