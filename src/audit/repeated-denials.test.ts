import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../sql.ts';
import { appendAuditEntries } from './append-entries.ts';
import type { AuditEntry } from './audit-entry.ts';
import { closeDenialWindows } from './close-denial-windows.ts';
import { type DenyingProcess, denialOf, openTestDenials, SECOND, sumOf, T0, type TestDenials } from './repeated-denials.fixture.ts';

let test: TestDenials;
let one: DenyingProcess;

beforeAll(async () => {
  test = await openTestDenials();
});
afterAll(() => test.dispose());
beforeEach(async () => {
  await test.clear();
  one = test.open();
});
afterEach(() => one.close());

const denyOne = async (given?: Partial<AuditEntry>, at?: number) => (await one.deny(denialOf(given, at)))[0];

describe('the denials of a window', () => {
  it('the first denial of a window has an entry, and the others name it and are counted', async () => {
    const first = denialOf();
    expect(await one.deny(first)).toEqual([first.id]);
    expect(await denyOne({}, T0 + SECOND)).toBe(first.id);
    expect(await one.deny(denialOf({}, T0 + 2 * SECOND), denialOf({}, T0 + 3 * SECOND))).toEqual([first.id, first.id]);
    expect((await test.entries()).map(({ id }) => id)).toEqual([first.id]);
    expect(await test.counts()).toMatchObject([
      {
        first: first.id,
        resource: 'Article',
        action: 'read',
        network: '192.0.2.0/24',
        since: first.at,
        last: new Date(T0 + 3 * SECOND).toISOString(),
        endsAt: new Date(T0 + 60 * SECOND).toISOString(),
        count: 3,
      },
    ]);
    const hours = await one.database.transaction((tx) => tx.all(sql`select "denials" from "_DecisionHour"`));
    expect(hours.reduce((sum, { denials }) => sum + Number(denials), 0)).toBe(4);
  });

  it('repeated denials of one transaction share the entry of the first', async () => {
    const denials = [denialOf(), denialOf(), denialOf()] as const;
    const [{ id }] = denials;
    expect(await one.deny(...denials)).toEqual([id, id, id]);
    expect([(await test.entries()).length, sumOf(await test.counts())]).toEqual([1, 2]);
  });

  it('repeated denials of concurrent transactions begin no chain without an entry', async () => {
    await denyOne();
    const chains = () => one.database.transaction((tx) => tx.all(sql`select "id" from "_Chain"`));
    const before = (await chains()).length;
    await Promise.all(Array.from({ length: 12 }, () => denyOne({}, T0 + SECOND)));
    expect([(await chains()).length, (await test.entries()).length]).toEqual([before, 1]);
  });

  it.each<[string, Partial<AuditEntry>]>([
    ['resource', { resource: 'User' }],
    ['action', { action: 'update' }],
    ['reason', { reason: 'denied by rule "a"' }],
    ['rule', { ruleId: 'r2' }],
    ['network', { ip: '192.0.3.1' }],
    ['IPv6 network', { ip: '2001:db8:0:1::1' }],
  ])('a denial with another %s begins a window of its own', async (_, other) => {
    const [first, second] = [denialOf(), denialOf(other)];
    expect([...(await one.deny(first)), ...(await one.deny(second))]).toEqual([first.id, second.id]);
    expect([(await test.entries()).length, await test.counts()]).toEqual([2, []]);
  });

  it.each([
    ['192.0.2.1', '192.0.2.254', '192.0.2.0/24'],
    ['192.0.2.1', '::ffff:192.0.2.7', '192.0.2.0/24'],
    ['2001:db8::1', '2001:db8:0:0:ffff:1:2:3', '2001:db8::/64'],
    ['2001:db8:1:2::1', '2001:DB8:1:2:9::', '2001:db8:1:2::/64'],
  ])('addresses of one network share a window: %s and %s', async (ip, other, network) => {
    const first = await denyOne({ ip });
    expect(await denyOne({ ip: other })).toBe(first);
    expect(await test.counts()).toMatchObject([{ network, count: 1 }]);
  });

  it('a window ends after its length', async () => {
    const first = await denyOne();
    expect(await denyOne({}, T0 + 60 * SECOND - 1)).toBe(first);
    const second = denialOf({}, T0 + 60 * SECOND);
    expect(await one.deny(second)).toEqual([second.id]);
  });

  it('a window ends with its hour, so that an hourly count contains all of it', async () => {
    const end = T0 + 30 * 60 * SECOND;
    const first = await denyOne({}, end - SECOND);
    expect(await denyOne({}, end - 1)).toBe(first);
    const second = denialOf({}, end);
    expect(await one.deny(second)).toEqual([second.id]);
  });

  it('a denial that was rolled back is not counted, and begins no window', async () => {
    const rollBack = async (): Promise<void> => {
      const work = one.database.transaction(async (tx) => {
        appendAuditEntries(tx, [{ entry: denialOf(), windows: one.windows }]);
        throw new Error('undone');
      });
      await expect(work).rejects.toThrow('undone');
    };
    await rollBack();
    const first = denialOf();
    expect(await one.deny(first)).toEqual([first.id]);
    await rollBack();
    expect([(await test.entries()).map(({ id }) => id), await test.counts()]).toEqual([[first.id], []]);
  });

  it('a denial whose commit failed begins no window', async () => {
    const stored = denialOf({ resource: 'User' });
    await one.deny(stored);
    // The entry exists already.
    await expect(
      one.database.transaction(async (tx) => appendAuditEntries(tx, [{ entry: denialOf(), windows: one.windows }, stored])),
    ).rejects.toThrow();
    const first = denialOf();
    expect(await one.deny(first)).toEqual([first.id]);
  });

  it.each([1, 2])('50 concurrent denials are stored or counted exactly once: number of processes %i', async (processes) => {
    const two = test.open();
    const answered = await Promise.all(
      Array.from({ length: 50 }, (_, index) => (index % processes === 0 ? one : two).deny(denialOf({}, T0 + index))),
    );
    const stored = await test.entries();
    expect(stored.length + sumOf(await test.counts())).toBe(50);
    expect(answered.flat().filter((id) => !stored.some((entry) => entry.id === id))).toEqual([]);
    await two.close();
  });
});

describe('more windows than the maximum', () => {
  beforeEach(async () => {
    await one.close();
    one = test.open({ maxWindows: 2 });
  });

  it('denials above the maximum number of windows share one window per resource and action', async () => {
    const [own, other] = [await denyOne({ ip: '192.0.2.1' }), await denyOne({ ip: '192.0.3.1' })];
    const shared = await denyOne({ ip: '192.0.4.1' });
    const byAction = await denyOne({ ip: '192.0.5.1', action: 'list' });
    expect(new Set([own, other, shared, byAction]).size).toBe(4);
    expect(await denyOne({ ip: '192.0.5.1', reason: 'denied by rule "a"' })).toBe(shared);
    expect(await denyOne({ ip: '192.0.6.1', action: 'list' })).toBe(byAction);
    expect(await denyOne({ ip: '192.0.3.9' })).toBe(other);
    expect((await test.counts()).map(({ first }) => first).toSorted()).toEqual([shared, byAction, other].toSorted());
  });

  it('denials have windows of their own again when others have ended', async () => {
    for (const ip of ['192.0.2.1', '192.0.3.1', '192.0.4.1']) await denyOne({ ip });
    const later = denialOf({ ip: '192.0.4.1' }, T0 + 61 * SECOND);
    expect(await one.deny(later)).toEqual([later.id]);
    expect(await denyOne({ ip: '192.0.4.2' }, T0 + 62 * SECOND)).toBe(later.id);
    expect(await test.counts()).toMatchObject([{ network: '192.0.4.0/24' }]);
  });

  it('the entry of a shared window names no network, reason or rule', async () => {
    for (const ip of ['192.0.2.1', '192.0.3.1', '192.0.4.1', '192.0.5.1']) await denyOne({ ip });
    await closeDenialWindows(one.database);
    const [entry] = await test.entries('repeat');
    expect(entry).toMatchObject({ ip: '', reason: 'denials of several networks and reasons', facts: { count: 1 } });
    expect(entry?.ruleId).toBeUndefined();
  });
});
