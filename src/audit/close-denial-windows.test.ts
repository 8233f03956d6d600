import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../sql.ts';
import { type Analytics, loadAnalytics } from './analytics.ts';
import { appendEntry } from './append-entries.ts';
import { closeDenialWindows, createWindowClosing, toClosingInterval } from './close-denial-windows.ts';
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

const close = (): Promise<number> => closeDenialWindows(one.database);

describe('closeDenialWindows', () => {
  it('appends an entry with the number, the first denial and the time of the last one', async () => {
    const first = denialOf();
    const last = new Date(T0 + 2 * SECOND).toISOString();
    await one.deny(first);
    await one.deny(denialOf({ ip: '192.0.2.9', requestId: 'r2' }, T0 + SECOND), denialOf({}, T0 + 2 * SECOND));
    expect(await close()).toBe(1);
    const { id, facts, requestId, ...same } = first;
    expect(await test.entries('repeat')).toEqual([
      expect.objectContaining({
        ...same,
        kind: 'repeat',
        at: last,
        ip: '192.0.2.0/24',
        facts: { first: id, since: first.at, last, count: 2 },
      }),
    ]);
    expect([await test.counts(), await close()]).toEqual([[], 0]);
  });

  it('keeps the numbers of windows that have not ended', async () => {
    const now = Date.now();
    await one.deny(denialOf({}, now), denialOf({}, now));
    expect([await close(), sumOf(await test.counts())]).toEqual([0, 1]);
  });

  it('counts denials that are committed after their window was closed', async () => {
    await one.deny(denialOf(), denialOf());
    await close();
    await one.deny(denialOf());
    await close();
    const recorded = await test.repeats();
    expect([new Set(recorded.map(({ first }) => first)).size, recorded.length, sumOf(recorded)]).toEqual([1, 2, 2]);
  });

  it('records a number whose first entry was deleted', async () => {
    await one.deny(denialOf(), denialOf());
    await one.database.transaction((tx) => tx.run(sql`delete from "_Decision"`));
    await close();
    expect(await test.entries('repeat')).toMatchObject([{ resource: 'Article', action: 'read', role: 'anon', facts: { count: 1 } }]);
  });

  it('gives the entry of a window of a former day the time at which it is closed', async () => {
    const before = T0 - 3 * 24 * 3600 * SECOND;
    await one.deny(denialOf({}, before), denialOf({}, before));
    await close();
    const [entry] = await test.entries('repeat');
    expect(Date.parse(entry?.at ?? '')).toBeGreaterThan(T0);
    expect(entry?.facts).toMatchObject({ last: new Date(before).toISOString() });
  });

  it('several processes that close windows while denials are counted lose and double none', async () => {
    const two = test.open();
    const denials = Array.from({ length: 30 }, (_, index) => {
      const ip = `192.0.${index % 3}.1`;
      return (index % 2 === 0 ? one : two).deny(denialOf({ ip }), denialOf({ ip }));
    });
    const closings = Array.from({ length: 10 }, (_, index) => closeDenialWindows((index % 2 === 0 ? one : two).database));
    await Promise.all([...denials, ...closings]);
    await Promise.all([close(), closeDenialWindows(two.database)]);
    await two.close();
    expect([(await test.entries('access')).length + sumOf(await test.repeats()), await test.counts()]).toEqual([60, []]);
  });

  it('closes more windows than one transaction does', async () => {
    const networks = Array.from({ length: 450 }, (_, index) => `10.${Math.floor(index / 250)}.${index % 250}.1`);
    await one.deny(...networks.flatMap((ip) => [denialOf({ ip }), denialOf({ ip })]));
    expect([await close(), sumOf(await test.repeats())]).toEqual([450, 450]);
  });
});

describe('createWindowClosing', () => {
  const closed = async (): Promise<void> => {
    while ((await test.counts()).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  it.each([
    ['five seconds', 60, 5000],
    ['a window that is shorter', 1, 1000],
    ['five seconds without windows of its own', 0, 5000],
  ])('closes windows at an interval of %s', (_, windowSeconds, expected) => {
    expect(toClosingInterval(windowSeconds)).toBe(expected);
  });

  it('closes windows at once and at intervals', async () => {
    const lines: string[] = [];
    const closing = createWindowClosing({ database: one.database, log: (line) => lines.push(line), interval: 5 });
    await one.deny(denialOf(), denialOf());
    closing.start();
    await closed();
    await one.deny(denialOf());
    await closed();
    await closing.close();
    expect([lines, sumOf(await test.repeats())]).toEqual([[], 2]);
  });

  it('records the numbers of refused tokens at intervals, and all of them when it closes', async () => {
    const [lines, recorded]: [string[], string[]] = [[], []];
    const recordRefusals = async (which: string): Promise<void> => {
      recorded.push(which);
      if (which === 'all') throw new Error('disk full');
    };
    const closing = createWindowClosing({ database: one.database, recordRefusals, log: (line) => lines.push(line), interval: 5 });
    closing.start();
    while (recorded.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    await closing.close();
    expect([recorded.indexOf('all'), recorded.at(-1)]).toEqual([recorded.length - 1, 'all']);
    expect(lines).toEqual([expect.stringMatching(/those of refused tokens are lost: disk full$/)]);
  });

  it('logs a failure once, and tries again', async () => {
    const lines: string[] = [];
    const closing = createWindowClosing({ database: one.database, log: (line) => lines.push(line), interval: 5 });
    await one.deny(denialOf(), denialOf());
    await one.database.transaction((tx) => tx.run(sql`alter table "_RepeatedDenial" rename to "_Away"`));
    closing.start();
    while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await one.database.transaction((tx) => tx.run(sql`alter table "_Away" rename to "_RepeatedDenial"`));
    await closed();
    await closing.close();
    expect(lines).toEqual([expect.stringMatching(/^the numbers of repeated denials .* could not be written .*, which is tried again/)]);
  });
});

describe('loadAnalytics with repeated denials', () => {
  const HOUR = 3_600_000;
  const beginning = Math.floor(T0 / HOUR) * HOUR;
  const load = async (from: number): Promise<Partial<Analytics>> => {
    const analytics = await one.database.transaction((tx) => loadAnalytics(tx, { from }));
    const { accessGrants, accessDenials, topResources } = analytics;
    return { accessGrants, accessDenials, topResources, from: analytics.from };
  };
  const times = Array.from({ length: 40 }, (_, index) => T0 + index * 7 * SECOND);

  it.each([
    ['an hour before', beginning - HOUR],
    ['the hour of the denials', beginning],
    ['a time before the denials in their hour', T0 - SECOND],
    ['a time after the denials in their hour', T0 + 20 * 60 * SECOND],
    ['a time between two windows', T0 + 62 * SECOND],
  ])('counts as many as with an entry for each, while windows are open and after they are closed: from %s', async (_, from) => {
    for (const at of times) await one.database.transaction(async (tx) => appendEntry(tx, denialOf({}, at)));
    const expected = await load(from);
    await test.clear();
    for (const at of times) await one.deny(denialOf({}, at));
    expect((await test.entries()).length).toBeLessThan(8);
    const open = await load(from);
    await close();
    expect([open, await load(from)]).toEqual([expected, expected]);
  });

  it('counts the whole hour if a window began before the time and went on after it', async () => {
    await one.deny(denialOf({}, T0), denialOf({}, T0 + 10 * SECOND));
    const expected = { accessDenials: 2, from: new Date(beginning).toISOString() };
    expect(await load(T0 + 5 * SECOND)).toMatchObject(expected);
    await close();
    expect(await load(T0 + 5 * SECOND)).toMatchObject(expected);
  });
});
