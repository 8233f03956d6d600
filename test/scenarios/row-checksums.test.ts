/** Rows that are damaged or edited with SQL: nothing is granted by them, `verify` names them, and `verify --reseal` accepts them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { resealData, verifyData } from '../../src/project/index.ts';
import { type Sql, sql } from '../../src/sql.ts';
import { openDatabase } from '../../src/storage/index.ts';
import { createChain } from '../chain.ts';
import { type RunningService, startService, type TestUser } from '../harness.ts';
import { createDatabaseUrl } from '../postgres/test-database.ts';

// The tests of this file build on each other.
const it = createChain();

const data = mkdtempSync(join(tmpdir(), 'bailiwick-checksums-'));
const database = createDatabaseUrl(data);
let service: RunningService;
let admin: TestUser;
let ann: TestUser;
let policy: string;
const NOTE = 'name: Note\nfields:\n  title: { type: string }\n';
const USER = 'name: User\nfields:\n  department: { type: string }\n  level: { type: integer }\n';

beforeAll(async () => {
  service = await start(USER);
  admin = await service.admin();
  ann = await service.user({ department: 'news', level: 2 });
  policy = await service.createPolicy({ rules: [{ resource: 'Note', action: 'list', effect: 'ALLOW' }], role: 'user' });
});
afterAll(async () => {
  await service.close();
  rmSync(data, { recursive: true, force: true });
});

/** Starts a service on the data of the test. */
const start = (user: string) =>
  startService({ definitions: { 'Note.yaml': NOTE, 'User.yaml': user }, settings: { data, database }, damagesRows: true });

/** Runs statements as a damaged disk or an SQL client would: the service does not notice. */
async function run(...statements: readonly Sql[]): Promise<void> {
  const opened = await openDatabase({ database });
  await opened.transaction(async (tx) => {
    for (const statement of statements) await tx.run(statement);
  });
  await opened.close();
}

const place = parseConfig({ flags: { project: data, data, database, checkpoints: 'off' }, env: {} });
const damagedRows = async () => (await verifyData(place)).rows?.damaged;
const list = async (user: TestUser) => {
  const reply = await service.call('GET', '/api/Note', { token: user.token });
  return [reply.status, reply.at('code')];
};
const ready = async () => (await service.call('GET', '/readyz')).status;

/** Gives the revision another stamp, as a restore does: a running service loads all policies again. */
const reload = () => run(sql`UPDATE "_State" SET "text" = ${crypto.randomUUID()} WHERE "id" = 'epoch'`);

describe('damaged rows', () => {
  it('verify finds no damage while the rows are as they were written', async () => {
    expect(await verifyData(place)).toMatchObject({ isWhole: true, database: { damage: [] }, rows: { damagedCount: 0 } });
    expect([await list(ann), await ready()]).toEqual([[200, undefined], 200]);
  });

  it('verify names a user whose column was changed, for each column but the password', async () => {
    const columns = ['email', 'name', 'role', 'isActive', 'department', 'level', 'version', 'createdAt', 'updatedAt'];
    const numbers = ['level', 'version'];
    for (const column of columns) {
      const name = sql.ref(column);
      const changed = numbers.includes(column) ? sql`${name} + 1` : column === 'isActive' ? sql`NOT ${name}` : sql`${name} || 'x'`;
      const back = numbers.includes(column)
        ? sql`${name} - 1`
        : column === 'isActive'
          ? sql`NOT ${name}`
          : sql`substr(${name}, 1, length(${name}) - 1)`;
      await run(sql`UPDATE "User" SET ${name} = ${changed} WHERE "id" = ${ann.id}`);
      expect([column, await damagedRows()]).toEqual([column, [expect.stringContaining(`row ${ann.id} of User is damaged`)]]);
      expect([column, ...(await list(ann))]).toEqual([column, 500, 'STORAGE_DAMAGED']);
      await run(sql`UPDATE "User" SET ${name} = ${back} WHERE "id" = ${ann.id}`);
      expect([column, ...(await list(ann))]).toEqual([column, 200, undefined]);
    }
  });

  it('a damaged user is not changed, so that no new checksum covers the damage, and others are served', async () => {
    await run(sql`UPDATE "User" SET "role" = 'admin' WHERE "id" = ${ann.id}`);
    const changed = await service.call('PUT', `/api/User/${ann.id}`, { token: admin.token, body: { department: 'sports' } });
    expect([changed.status, changed.at('code')]).toEqual([500, 'STORAGE_DAMAGED']);
    expect(await ready()).toBe(200);
    await run(sql`UPDATE "User" SET "role" = 'user' WHERE "id" = ${ann.id}`);
    expect((await service.call('PUT', `/api/User/${ann.id}`, { token: admin.token, body: { department: 'sports' } })).status).toBe(200);
    expect(await damagedRows()).toEqual([]);
  });

  it('access tests, who-can and permissions treat a damaged user as requests do', async () => {
    const ask = async (path: string, body: object): Promise<readonly unknown[]> => {
      const reply = await service.call('POST', `/admin/api/${path}`, { token: admin.token, body });
      return [reply.status, reply.at('code') ?? JSON.stringify(reply.body).includes(ann.id)];
    };
    const questions = (): Promise<readonly unknown[]> =>
      Promise.all([
        ask('policies/test-access', { resource: { name: 'Note' }, action: 'list', user: { id: ann.id } }),
        ask('policies/who-can', { resource: 'Note', action: 'list' }),
        ask(`users/${ann.id}/permissions`, {}),
      ]);
    expect(await questions()).toEqual([
      [200, expect.any(Boolean)],
      [200, true],
      [200, true],
    ]);
    await run(sql`UPDATE "User" SET "level" = "level" + 1 WHERE "id" = ${ann.id}`);
    expect(await questions()).toEqual([
      [500, 'STORAGE_DAMAGED'],
      [200, false],
      [500, 'STORAGE_DAMAGED'],
    ]);
    await run(sql`UPDATE "User" SET "level" = "level" - 1 WHERE "id" = ${ann.id}`);
    expect(await list(ann)).toEqual([200, undefined]);
  });

  it('a user whose checksum was removed is damaged, and so is a user who was removed', async () => {
    await run(sql`UPDATE "_RecordChecksum" SET "checksum" = NULL WHERE "id" = ${`User/${ann.id}`}`);
    expect(await list(ann)).toEqual([500, 'STORAGE_DAMAGED']);
    await run(sql`INSERT INTO "_RecordChecksum" ("id", "checksum") VALUES ('User/gone', 'x')`);
    expect(await damagedRows()).toEqual([expect.stringContaining(`row ${ann.id} of User is damaged`), 'row gone of User is missing']);
    expect(await resealData(place)).toEqual([expect.stringContaining(ann.id)]);
    expect([await damagedRows(), await list(ann)]).toEqual([[], [200, undefined]]);
  });

  it('a policy that was changed with SQL denies its callers, and makes the service not ready', async () => {
    await run(sql`UPDATE "_PolicyRule" SET "action" = '*' WHERE "policyId" = ${policy}`);
    await reload();
    expect(await list(ann)).toEqual([403, 'ACCESS_DENIED']);
    expect([await list(admin), await ready()]).toEqual([[200, undefined], 503]);
    expect(await damagedRows()).toEqual([expect.stringContaining(`row ${policy} of _Policy is damaged`)]);
    const [entry] = await service.decisions('resource=Note&allowed=false&limit=1');
    expect(entry).toMatchObject({ ruleId: 'damaged-data', policyId: policy });
  });

  it('verify --reseal accepts a policy as it is, with a version and an audit entry', async () => {
    expect(await resealData(place)).toEqual([expect.stringContaining(policy)]);
    expect([await list(ann), await ready()]).toEqual([[200, undefined], 200]);
    expect(await verifyData(place)).toMatchObject({ isWhole: true });
    expect((await service.call('POST', '/api/Note', { token: ann.token, body: { title: 'x' } })).status).toBe(201);
    const [entry] = await service.decisions('kind=admin&action=reseal&limit=1');
    expect(entry).toMatchObject({ action: 'reseal', reason: `accepted 1 damaged rows as they are: _Policy ${policy}` });
  });

  it('an assignment that was deleted with SQL denies everyone, until it is accepted', async () => {
    await run(sql`DELETE FROM "_RolePolicy" WHERE "policyId" = ${policy}`);
    await reload();
    expect([await list(ann), await list(admin)]).toEqual([
      [403, 'ACCESS_DENIED'],
      [403, 'ACCESS_DENIED'],
    ]);
    expect(await resealData(place)).toEqual([expect.stringMatching(/^row \S+ of _RolePolicy is missing$/)]);
    expect([await list(ann), await list(admin), await ready()]).toEqual([[403, 'ACCESS_DENIED'], [200, undefined], 200]);
  });

  it('a later migration of User keeps damaged users damaged', async () => {
    await run(sql`UPDATE "User" SET "level" = 9 WHERE "id" = ${ann.id}`);
    await service.close();
    service = await start(`${USER}  team: { type: string, default: none }\n`);
    const [row, ...others] = (await damagedRows()) ?? [];
    expect([row, others]).toEqual([expect.stringContaining(`row ${ann.id} of User is damaged`), []]);
    expect(await list(admin)).toEqual([200, undefined]);
  });
});
