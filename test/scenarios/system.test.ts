/** The state of the process at `/admin/api/system`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';
import { onPostgres } from '../postgres/test-database.ts';

let service: RunningService;
let token: string;
beforeAll(async () => {
  service = await startService({ definitions: { 'Note.yaml': 'name: Note\nfields:\n  title: { type: string }\n' } });
  token = (await service.admin()).token;
});
afterAll(() => service.close());

describe('GET /admin/api/system', () => {
  it('shows the state to admins without an audit entry, and no secret', async () => {
    const reply = await service.call('GET', '/admin/api/system', { token });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.at('data')).toMatchObject({
      node: process.versions.node,
      database: { kind: onPostgres ? 'postgres' : 'sqlite', version: expect.stringMatching(/^\d+\.\d+/) },
      revision: expect.any(Number),
      definitions: { hash: expect.any(String), pending: 0 },
      checks: [
        { name: 'policies', ok: true },
        { name: 'database', ok: true },
        { name: 'disk', ok: true },
      ],
    });
    const options = reply.at('data.options') as readonly { readonly name: string; readonly value?: unknown }[];
    expect(options.find(({ name }) => name === 'jwtSecret')).not.toHaveProperty('value');
    expect(String(options.find(({ name }) => name === 'database')?.value)).not.toContain('@');
    expect(await service.decisions('kind=admin&action=system.read&limit=1')).toEqual([]);
  });
});
