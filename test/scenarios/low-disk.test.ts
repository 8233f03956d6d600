/** A service whose disk has less free space than `diskMinBytes`. */
import { describe, expect, it } from 'vitest';
import { onPostgres } from '../../src/storage/storage.fixture.ts';
import { startService } from '../harness.ts';

const NOTE = 'name: Note\nfields:\n  title: { type: string }\n';

describe('a service with little free disk space', () => {
  it('refuses requests without a token on SQLite, and answers users', async () => {
    const service = await startService({ definitions: { 'Note.yaml': NOTE }, settings: { diskMinBytes: 1e12, diskWarnBytes: 1e12 } });
    await service.createPolicy({ rules: [{ resource: 'Note', action: 'list', effect: 'ALLOW' }], role: 'anon' });
    const { token } = await service.admin();
    const anonymous = await service.call('GET', '/api/Note');
    const batch = await service.call('POST', '/api/batch', { body: { requests: [{ resource: 'Note', action: 'list' }] } });
    expect([anonymous.status, batch.status]).toEqual(onPostgres ? [200, 200] : [503, 503]);
    if (!onPostgres) expect(anonymous.body).toMatchObject({ code: 'STORAGE_UNAVAILABLE', detail: expect.stringContaining('almost full') });
    expect((await service.call('GET', '/api/Note', { token })).status).toBe(200);
    expect((await service.call('GET', '/readyz')).status).toBe(onPostgres ? 200 : 503);
    await service.close();
  });
});
