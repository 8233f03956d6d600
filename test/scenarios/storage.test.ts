import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { openTables } from '../../src/project/index.ts';
import { createChain } from '../chain.ts';
import { type RunningService, startService } from '../harness.ts';
import { createDatabaseUrl } from '../postgres/test-database.ts';

// The tests of this file build on each other.
const it = createChain();

const definition = (field: string): string => `name: Note\nfields:\n  ${field}\n`;

let service: RunningService;
beforeAll(async () => {
  service = await startService({ definitions: { 'Note.yaml': definition('text: { type: string }') } });
});
afterAll(() => service.close());

/** Requests the migration plan for the current definition files. */
async function plan(): Promise<{ status: number; data: Record<string, unknown> }> {
  const reply = await service.call('GET', '/admin/api/storage/plan', { token: (await service.admin()).token });
  return { status: reply.status, data: reply.at('data') as Record<string, unknown> };
}

const write = (text: string): void => writeFileSync(join(service.dataFolder, '..', 'project', 'resources', 'Note.yaml'), text);

describe('GET /admin/api/storage/plan', () => {
  it('the migration plan has no steps after the start', async () => {
    expect(await plan()).toEqual({
      status: 200,
      data: { hash: expect.stringMatching(/^[0-9a-f]{64}$/), steps: [], held: [], mistakes: [] },
    });
  });

  it('the migration plan shows the steps for changed files with their risk, and applies none', async () => {
    await service.createRecord('Note', { text: 'words' });
    write(definition('text: { type: integer }'));
    const { data } = await plan();
    expect(data['held']).toEqual(['Note']);
    expect(data['steps']).toMatchObject([
      { resource: 'Note', kind: 'convert', field: 'text', risk: 'lossy', rows: 1, ids: [expect.any(String)] },
    ]);
    expect(JSON.stringify(data)).not.toContain('words');
    expect((await plan()).data).toEqual(data);
  });

  it('the migration plan reports errors in the files', async () => {
    write(definition('text: { type: sting }'));
    expect((await plan()).data).toEqual({ steps: [], held: [], mistakes: [expect.stringContaining('resources/Note.yaml:3')] });
  });
});

describe('GET /admin/api/storage/history', () => {
  it('the migration history shows applied migrations', async () => {
    const { token } = await service.admin();
    const reply = await service.call('GET', '/admin/api/storage/history?limit=5', { token });
    expect([reply.at('count'), reply.at('data.0.actor')]).toEqual([1, 'start']);
    expect(reply.at('data.0.steps')).toContainEqual({ kind: 'createTable', resource: 'Note', risk: 'safe', reason: expect.any(String) });
    expect((await service.call('GET', '/admin/api/storage/history?limit=0', { token })).status).toBe(400);
  });
});

describe('migrations over HTTP', () => {
  it.each(['plan', 'history'])('the migration %s is restricted to admins', async (path) => {
    const { token } = await service.user();
    expect((await service.call('GET', `/admin/api/storage/${path}`)).status).toBe(401);
    expect((await service.call('GET', `/admin/api/storage/${path}`, { token })).status).toBe(403);
  });
});

describe('the command "storage restored"', () => {
  const open = (database: string) =>
    openTables(parseConfig({ flags: { project: join(service.dataFolder, '..', 'project'), database }, env: {} }), {
      log: () => undefined,
    });

  it('the command "storage restored" ends every session and creates a revision with an audit entry', async () => {
    write(definition('text: { type: string }'));
    const { token, email, password } = await service.admin();
    const before = Math.max(...(await service.decisions('limit=100')).map(({ epoch }) => Number(epoch)));
    const tables = await open(service.database);
    await tables.noteRestored();
    const [{ actor, steps } = { actor: '', steps: [] }] = await tables.history(1);
    await tables.close();
    expect([actor, steps]).toEqual(['cli', [{ kind: 'restore', resource: '*', risk: 'destructive', reason: expect.any(String) }]]);
    expect((await service.call('GET', '/api/Note', { token })).status).toBe(401);
    const newToken = await service.logIn(email, password);
    const entry = await service.call('GET', '/admin/api/decisions?action=restore', { token: newToken });
    expect(entry.at('data.0')).toMatchObject({ kind: 'admin', resource: '*', epoch: before + 1 });
    expect(readFileSync(join(service.dataFolder, '..', 'project', 'data', 'checkpoints.ndjson'), 'utf8')).toContain('"kind":"restored"');
  });

  it('the command "storage restored" refuses an empty database', async () => {
    const tables = await open(createDatabaseUrl(service.dataFolder));
    await expect(tables.noteRestored()).rejects.toThrow(/empty/);
    await tables.close();
  });
});
