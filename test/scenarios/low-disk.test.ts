/** A service with less free space than `diskMinBytes`: on its disk, or up to the maximum size of a database on PostgreSQL. */
import { describe, expect, it } from 'vitest';
import { onPostgres } from '../../src/storage/storage.fixture.ts';
import { startService } from '../harness.ts';

const NOTE = 'name: Note\nfields:\n  title: { type: string }\n';

describe('a service with little free disk space', () => {
  it.each([0, 1])(
    'refuses requests without a token, on PostgreSQL if the database has a maximum size (%s bytes), and answers users',
    async (databaseMaxBytes) => {
      const settings = { diskMinBytes: 1e12, diskWarnBytes: 1e12, databaseMaxBytes };
      const service = await startService({ definitions: { 'Note.yaml': NOTE }, settings });
      const isRefused = !onPostgres || databaseMaxBytes > 0;
      const fault = onPostgres ? 'the database has almost reached its maximum size' : 'the disk of the database is almost full';
      await service.createPolicy({ rules: [{ resource: 'Note', action: 'list', effect: 'ALLOW' }], role: 'anon' });
      const { token } = await service.admin();
      const anonymous = await service.call('GET', '/api/Note');
      const batch = await service.call('POST', '/api/batch', { body: { requests: [{ resource: 'Note', action: 'list' }] } });
      expect([anonymous.status, batch.status]).toEqual(isRefused ? [503, 503] : [200, 200]);
      if (isRefused) expect(anonymous.body).toMatchObject({ code: 'STORAGE_UNAVAILABLE', detail: expect.stringContaining(fault) });
      expect((await service.call('GET', '/api/Note', { token })).status).toBe(200);
      const refused = [
        await service.call('GET', '/api/Note', { token: 'a.b.c' }),
        await service.call('POST', '/auth/refresh', { body: { refreshToken: 'none' } }),
      ];
      expect(refused.map(({ status }) => status)).toEqual(isRefused ? [503, 503] : [401, 401]);
      expect(await service.decisions('kind=auth&allowed=false')).toHaveLength(isRefused ? 0 : 2);
      expect((await service.call('GET', '/readyz')).status).toBe(isRefused ? 503 : 200);
      await service.close();
    },
  );
});
