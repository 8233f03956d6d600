import { expect, it } from 'vitest';
import { checkDatabase, type PageChecksums, toServerCheck } from './check-database.ts';
import { onPostgres, openTestDatabase } from './storage.fixture.ts';

it.each<[string, PageChecksums | undefined, readonly string[], string]>([
  ['no failure', { setting: 'on', failures: 0, last: null }, [], 'the server checks the checksums of its pages and has found no wrong one'],
  [
    'failures',
    { setting: 'on', failures: 3, last: '2026-01-02 03:04:05+00' },
    ['3 pages of the server had a wrong checksum, the last at 2026-01-02 03:04:05+00'],
    'the server has found pages with a wrong checksum',
  ],
  [
    'checksums that are off',
    { setting: 'off', failures: null, last: null },
    [],
    'the pages of the server have no checksums: enable them with pg_checksums',
  ],
  ['no statistics of the database', undefined, [], 'the pages of the server have no checksums: enable them with pg_checksums'],
])('a check of page checksums reports %s', (_, found, damage, summary) => {
  expect(toServerCheck(found)).toEqual({ damage, summary });
});

it('a new database passes the checks of its database', async () => {
  const test = openTestDatabase();
  const { damage, summary } = await checkDatabase(test.database, test.url);
  expect(damage).toEqual([]);
  expect(summary).toMatch(onPostgres ? /^the (server|pages)/ : /^the file passed/);
  await test.dispose();
});
