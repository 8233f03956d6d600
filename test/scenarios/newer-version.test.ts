/** A database that a newer version of the program has migrated, while a service of this version runs on it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { JsonObject } from '../../src/operators/index.ts';
import { loadProjectStatus, readProject } from '../../src/project/index.ts';
import { sql } from '../../src/sql.ts';
import { migrate } from '../../src/storage/index.ts';
import { openTestDatabase, type TestDatabase } from '../../src/storage/storage.fixture.ts';
import { type RunningService, startService } from '../harness.ts';

const NOTE = 'name: Note\nfields:\n  title: { type: string }\n';
const UNKNOWN = 'this program does not know the field _UserPolicy.startsAt';
const REFUSED = expect.stringContaining('was written by a newer version');

let folder: string;
let test: TestDatabase;
let service: RunningService;
const start = () =>
  startService({ definitions: { 'Note.yaml': NOTE }, settings: { database: test.url, data: folder, checkpoints: 'off' } });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-newer-'));
  mkdirSync(join(folder, 'resources'));
  writeFileSync(join(folder, 'resources', 'Note.yaml'), NOTE);
  test = openTestDatabase();
  await migrate(test.database, readProject(folder));
  service = await start();
  await service.admin();
  await test.database.transaction(async (tx) => {
    const row = await tx.one<{ source: string }>(sql`SELECT "source" FROM "_Definition" WHERE "id" = '_UserPolicy'`);
    const source = JSON.parse(row?.source ?? '') as { readonly fields: JsonObject };
    const newer = JSON.stringify({ ...source, fields: { ...source.fields, startsAt: { type: 'timestamp' } } });
    await tx.run(sql`UPDATE "_Definition" SET "source" = ${newer} WHERE "id" = '_UserPolicy'`);
    await tx.run(sql`UPDATE "_State" SET "text" = 'newer' WHERE "id" = 'definitions'`);
  });
});
afterAll(async () => {
  await service.close();
  await test.dispose();
  rmSync(folder, { recursive: true, force: true });
});

describe('a database of a newer version', () => {
  it('a running service answers requests, and its plan names what it does not know', async () => {
    const { token } = await service.admin();
    expect((await service.call('GET', '/api/Note', { token })).status).toBe(200);
    const reply = await service.call('GET', '/admin/api/storage/plan', { token });
    expect(reply.at('data')).toEqual({ steps: [], held: [], mistakes: [UNKNOWN, expect.stringContaining('newer version')] });
  });

  it('status prints the data, and why a start would fail', async () => {
    const config = parseConfig({ flags: { project: folder, data: folder, database: test.url }, env: {} });
    const status = await loadProjectStatus(config, { log: () => undefined });
    expect(status).toMatchObject({ revision: expect.any(Number), admins: 1, migration: { steps: 0, held: [], refused: REFUSED } });
  });

  it('a start is refused', async () => {
    await expect(start()).rejects.toMatchObject({ message: REFUSED, mistakes: expect.arrayContaining([UNKNOWN]) });
  });
});
