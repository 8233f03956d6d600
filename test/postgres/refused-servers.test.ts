/** The service refuses to start on servers that could lose acknowledged commits. */
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/storage/index.ts';
import { startPostgres } from './server.ts';

it.each([
  ['without fsync and full pages', { settings: ['fsync=off', 'full_page_writes=off'] }, ['fsync is off', 'full_page_writes is off']],
  ['that is a hot standby', { standby: true }, ['the server is a hot standby and accepts no writes']],
])('refuses a server %s with the reason', async (_, how, expected) => {
  const server = await startPostgres({ inMemory: true, ...how });
  try {
    await expect(openDatabase({ database: `${server.url}?schema=none` })).rejects.toMatchObject({
      name: 'SetupError',
      mistakes: expected.map((part) => expect.stringContaining(part)),
    });
  } finally {
    await server.stop();
  }
});
