/** A server whose advisory locks are there and do nothing, as those of some that speak like PostgreSQL: functions that shadow the real ones. */

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openPostgres } from './database.ts';

const server = new URL(process.env['TEST_POSTGRES_URL'] ?? '');
const name = `storage_postgres_locks_${randomBytes(4).toString('hex')}`;
const url = new URL(server);
url.pathname = `/${name}`;

const ONE = 'bigint';
const TWO = 'integer, integer';
const stub = (called: string, types: string, body = ''): string =>
  `CREATE FUNCTION shadow.${called}(${types}) RETURNS ${body === '' ? 'void' : 'boolean'} LANGUAGE sql AS 'SELECT ${body}'`;

let admin: pg.Client;
let inside: pg.Client;
beforeAll(async () => {
  admin = await connect(server);
  await admin.query(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  // What stands before pg_catalog comes before it.
  await admin.query(`ALTER DATABASE ${name} SET search_path TO shadow, pg_catalog`);
  inside = await connect(url);
});
afterAll(async () => {
  await inside?.end();
  await admin?.query(`DROP DATABASE ${name}`);
  await admin?.end();
});
afterEach(() => inside.query('DROP SCHEMA shadow CASCADE'));

const opened = async (): Promise<void> => (await openPostgres({ url: url.href })).close();

describe('a server whose locks', () => {
  it('are the real ones is taken', async () => {
    await inside.query('CREATE SCHEMA shadow');
    await opened();
  });

  it.each([
    [
      'are all stubs',
      [
        stub('pg_advisory_xact_lock', ONE),
        stub('pg_advisory_xact_lock_shared', TWO),
        stub('pg_try_advisory_xact_lock', ONE, 'true'),
        stub('pg_try_advisory_xact_lock', TWO, 'true'),
      ],
      ['pg_advisory_xact_lock locks nothing', 'pg_advisory_xact_lock_shared locks nothing'],
    ],
    ['of names are stubs', [stub('pg_advisory_xact_lock', ONE)], ['pg_advisory_xact_lock locks nothing']],
    ['that are shared are stubs', [stub('pg_advisory_xact_lock_shared', TWO)], ['pg_advisory_xact_lock_shared locks nothing']],
    [
      'are stubs, and are never got by who tries',
      [stub('pg_advisory_xact_lock', ONE), stub('pg_try_advisory_xact_lock', ONE, 'false')],
      ['pg_try_advisory_xact_lock does not get a lock that nobody holds'],
    ],
  ])('%s is refused in words', async (_, stubs, expected) => {
    await inside.query(['CREATE SCHEMA shadow', ...stubs].join('; '));
    await expect(opened()).rejects.toMatchObject({
      name: 'SetupError',
      message: expect.stringContaining('the PostgreSQL server cannot keep what it is given'),
      mistakes: expected.map((part) => expect.stringContaining(part)),
    });
  });
});

async function connect(address: URL): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: address.href });
  await client.connect();
  return client;
}
