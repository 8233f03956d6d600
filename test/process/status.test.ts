/** `bailiwick status` and `bailiwick openapi`, beside a running service and without one. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseConfig } from '../../src/config/index.ts';
import { loadProjectStatus } from '../../src/project/index.ts';
import { renderProjectApi } from '../../src/project-documents.ts';
import { type RunningService, startService } from '../harness.ts';
import { runCommand } from './run-command.ts';

let service: RunningService;
beforeAll(async () => {
  service = await startService({ project: 'examples/newsroom', damagesRows: true });
  await service.admin();
});
afterAll(() => service.close());

const place = (): readonly string[] => ['--project', 'examples/newsroom', '--data', service.dataFolder, '--database', service.database];

describe('status', () => {
  it('status says that there is no database yet, and creates none', async () => {
    const data = mkdtempSync(join(tmpdir(), 'bailiwick-status-'));
    const { code, out } = await runCommand(['status', '--project', 'examples/newsroom', '--data', data]);
    expect([code, out]).toEqual([0, expect.stringContaining('it does not exist yet')]);
    expect(readdirSync(data)).toEqual([]);
    rmSync(data, { recursive: true });
  });

  it('status prints that it waits while another process has locked the database', async () => {
    const other = new Sqlite(join(service.dataFolder, 'bailiwick.db'));
    other.exec('BEGIN IMMEDIATE');
    const log = vi.fn(() => void other.exec('COMMIT'));
    const flags = { project: 'examples/newsroom', data: service.dataFolder, database: service.database };
    await loadProjectStatus(parseConfig({ flags, env: {} }), { log });
    expect(log.mock.calls).toEqual([['another process has locked the database; waiting until it has finished']]);
    other.close();
  });

  it('status prints the data of a running service, then its damaged rows', async () => {
    const { code, out } = await runCommand(['status', '--json', ...place()]);
    const { token } = await service.admin();
    const { body } = await service.call('GET', '/admin/api/system', { token });
    const { revision, database } = (
      body as { readonly data: { readonly revision: number; readonly database: { readonly version: string } } }
    ).data;
    expect(JSON.parse(out)).toMatchObject({ revision, databaseVersion: database.version, migration: { steps: 0, held: [] }, damaged: [] });
    expect(JSON.parse(out)).toMatchObject({ admins: 1, activePolicies: 1, lastEntryAt: expect.stringMatching(/^20/) });
    expect(code).toBe(0);
    const rows = new Sqlite(join(service.dataFolder, 'bailiwick.db'));
    rows.exec(`UPDATE "_Policy" SET "priority" = "priority" + 1`);
    rows.close();
    const damaged = await runCommand(['status', ...place()]);
    expect([damaged.code, damaged.out]).toEqual([1, expect.stringMatching(/^damaged: /m)]);
  });
});

describe('openapi', () => {
  it('openapi writes the document that an admin gets from the service', async () => {
    const config = parseConfig({ flags: { project: 'examples/newsroom' }, env: {} });
    const { token } = await service.admin();
    const { body } = await service.call('GET', '/openapi.json', { token });
    expect(JSON.parse(await renderProjectApi(config))).toEqual(body);
  });
});
