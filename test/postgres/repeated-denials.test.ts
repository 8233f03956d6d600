import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AuditEntry,
  appendAuditEntries,
  type CountableDenial,
  createDenialWindows,
  createEntryId,
  type DenialWindows,
} from '../../src/audit/index.ts';
import { SYSTEM } from '../../src/resources/system/index.ts';
import { sql } from '../../src/sql.ts';
import { type Database, migrate, openDatabase, type Transaction } from '../../src/storage/index.ts';
import { type Cut, type PostgresProxy, startProxy } from './proxy.ts';
import { createDatabaseUrl } from './test-database.ts';

let direct: Database;
let proxy: PostgresProxy;
let database: Database;
let windows: DenialWindows;
let denied: CountableDenial[];

beforeAll(async () => {
  const url = createDatabaseUrl('');
  direct = await openDatabase({ database: url });
  await migrate(direct, SYSTEM);
  proxy = await startProxy(url);
  database = await openDatabase({ database: proxy.url });
});
afterAll(async () => {
  await database.close();
  await proxy.close();
  await direct.close();
});
beforeEach(async () => {
  await direct.transaction(async (tx) => {
    for (const table of ['_Decision', '_DecisionHour', '_RepeatedDenial', '_Chain']) await tx.run(sql`delete from ${sql.table(table)}`);
  });
  windows = createDenialWindows({ seconds: 60 });
  denied = [];
  // After a few transactions the connections are known not to be shared through a pooler.
  for (let at = 0; at < 3; at++) await database.transaction((tx) => tx.one(sql`SELECT 1`));
  await deny();
});

/** The time of all denials: a window also ends at the end of the hour. */
const AT = new Date().toISOString();

async function deny(also: (tx: Transaction) => Promise<unknown> = async () => undefined): Promise<void> {
  const entry: AuditEntry = {
    id: createEntryId(),
    at: AT,
    kind: 'access',
    role: 'anon',
    resource: 'Article',
    action: 'read',
    allowed: false,
    reason: 'no rule matched',
    epoch: 1,
    requestId: 'r1',
    ip: '192.0.2.1',
  };
  const denial = { entry, windows };
  await database.transaction(async (tx) => {
    await also(tx);
    appendAuditEntries(tx, [denial]);
  });
  windows.open([denial]);
  denied.push(denial);
}

const count = (): Promise<unknown> =>
  direct.transaction(async (tx) => {
    const { stored } = (await tx.one<{ stored: number }>(sql`select count(*)::int as "stored" from "_Decision"`)) ?? { stored: 0 };
    const sum = await tx.one<{ count: number }>(sql`select coalesce(sum("count"), 0)::int as "count" from "_RepeatedDenial"`);
    const hours = await tx.one<{ denials: number }>(sql`select sum("denials")::int as "denials" from "_DecisionHour"`);
    return { stored: stored, repeated: sum?.count, hourly: hours?.denials };
  });

describe.each<Cut>(['before', 'after'])('a connection lost at COMMIT, %s the server commits', (how) => {
  it.each([
    ['alone', 1, async () => undefined],
    ['with a change', 1, (tx: Transaction) => tx.run(sql`update "_Chain" set "cut" = null`)],
    ['in a batch', 50, async () => undefined],
  ])(`counts each repeated denial exactly once if the connection is lost ${how} the server commits: %s`, async (_, times, also) => {
    // The second denial creates the row of the number, and the third adds to it.
    for (let round = 1; round <= 2; round++) {
      const before = proxy.cuts;
      proxy.cut(how);
      await Promise.all(Array.from({ length: times }, () => deny(also)));
      expect(proxy.cuts).toBe(before + 1);
      expect(await count()).toEqual({ stored: 1, repeated: round * times, hourly: 1 + round * times });
    }
    expect(new Set(denied.map(({ window }) => window?.first.id)).size).toBe(1);
  });
});
