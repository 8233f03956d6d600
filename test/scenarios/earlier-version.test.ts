/** A data folder of a version whose chains had no time zone, and whose policies no manager: it is verified and resealed as it is, and a service starts on it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { appendEntry, createEntryId } from '../../src/audit/index.ts';
import { openPolicyHistory } from '../../src/audit-log-commands.ts';
import { type Config, parseConfig } from '../../src/config/config.ts';
import type { JsonObject } from '../../src/operators/index.ts';
import { readProject, resealData, verifyData } from '../../src/project/index.ts';
import { type Definitions, parseDefinition } from '../../src/resources/index.ts';
import { sql } from '../../src/sql.ts';
import { assignToRole, createPolicy, migrate } from '../../src/storage/index.ts';
import { saveDefinitionsInForce } from '../../src/storage/migrations/migration-status.ts';
import { insertUser, toPolicyInput } from '../../src/storage/policies/policy.fixture.ts';
import { openTestDatabase, type TestDatabase } from '../../src/storage/storage.fixture.ts';
import { createChain } from '../chain.ts';
import { startService } from '../harness.ts';

// The tests of this file build on each other.
const it = createChain();

/** The columns that the earlier version does not have. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  _Chain: ['timeZone'],
  _Policy: ['managedBy', 'file'],
  _RolePolicy: ['managedBy'],
};

/** Returns the definitions of the earlier version. */
function toEarlier(definitions: Definitions): Definitions {
  const earlier = Object.entries(ADDED).map(([name, added]) => {
    const { source = {} } = definitions.get(name) ?? {};
    const fields = Object.fromEntries(Object.entries(source['fields'] as JsonObject).filter(([field]) => !added.includes(field)));
    const { resource } = parseDefinition({ ...source, fields }, { builtIn: true });
    if (resource === undefined) throw new Error(`the earlier definition of ${name} is invalid`);
    return [name, resource] as const;
  });
  return new Map([...definitions, ...earlier]);
}

const NOTE = 'name: Note\nfields:\n  title: { type: string }\n';
let folder: string;
let test: TestDatabase;
let place: Config;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-earlier-'));
  mkdirSync(join(folder, 'resources'));
  writeFileSync(join(folder, 'resources', 'Note.yaml'), NOTE);
  test = openTestDatabase();
  place = parseConfig({ flags: { project: folder, data: folder, database: test.url, checkpoints: 'off' }, env: {} });
  const definitions = readProject(folder);
  await migrate(test.database, definitions);
  await test.database.transaction(async (tx) => {
    await insertUser(tx, 'u1');
    const { id: policyId } = await createPolicy(tx, toPolicyInput('readers'), { by: 'u1' });
    await assignToRole(tx, { policyId, role: 'user' }, { by: 'u1' });
    const entry = { id: createEntryId(), at: new Date(tx.now).toISOString(), kind: 'access', allowed: true, role: 'user' } as const;
    // This process has no time zone, so the hash of the chain is that of the earlier version.
    appendEntry(tx, { ...entry, resource: 'Note', action: 'list', reason: 'allowed', epoch: 1, requestId: 'q', ip: '127.0.0.1' });
  });
  // Entries are inserted at the commit, so the column is removed in a transaction of its own.
  await test.database.transaction(async (tx) => {
    for (const [table, columns] of Object.entries(ADDED))
      for (const column of columns) await tx.run(sql`ALTER TABLE ${sql.table(table)} DROP COLUMN ${sql.ref(column)}`);
    await saveDefinitionsInForce(tx, toEarlier(definitions));
    await tx.run(sql`UPDATE "User" SET "name" = 'changed with SQL'`);
  });
});
afterAll(async () => {
  await test.dispose();
  rmSync(folder, { recursive: true, force: true });
});

describe('a data folder of an earlier version', () => {
  it('verify compares the data of an earlier version without a migration', async () => {
    expect(await verifyData(place)).toMatchObject({ isWhole: false, rows: { damagedCount: 1 }, decisions: { entries: 1, breakCount: 0 } });
    expect((await test.rows('_Chain'))[0]).not.toHaveProperty('timeZone');
  });

  it('the history of policies of an earlier version is read without a migration, by the name of a policy', async () => {
    const history = await openPolicyHistory(place);
    expect(await history.last({ policy: 'readers', limit: 9 })).toMatchObject([{ subject: 'assignment' }, { change: 'created' }]);
    await history.close();
  });

  it('verify --reseal accepts damaged rows of an earlier version, with an audit entry', async () => {
    expect(await resealData(place)).toEqual([expect.stringContaining('User')]);
    expect(await verifyData(place)).toMatchObject({ isWhole: true, rows: { damagedCount: 0 }, decisions: { entries: 2 } });
  });

  it('a service starts on the data of an earlier version and serves requests', async () => {
    const settings = { database: test.url, data: folder, checkpoints: 'off' };
    const service = await startService({ definitions: { 'Note.yaml': NOTE }, settings });
    try {
      const { token } = await service.admin();
      expect((await service.call('GET', '/api/Note', { token })).status).toBe(200);
      expect((await service.call('GET', '/admin/api/decisions/verify', { token })).at('data')).toMatchObject({ whole: true });
    } finally {
      await service.close();
    }
  });
});
