import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openPostgres } from './database.ts';
import { findServerProblems } from './server-checks.ts';

const server = new URL(process.env['TEST_POSTGRES_URL'] ?? '');
const name = `storage_postgres_locks_${randomBytes(4).toString('hex')}`;
const url = new URL(server);
url.pathname = `/${name}`;

const ONE = 'bigint';
const TWO = 'integer, integer';
const stub = (called: string, types: string, body = ''): string =>
  `CREATE FUNCTION shadow.${called}(${types}) RETURNS ${body === '' ? 'void' : 'boolean'} LANGUAGE sql AS 'SELECT ${body}'`;

const opened = async (): Promise<void> => (await openPostgres({ url: url.href })).close();

const FINE = {
  version: '16.4',
  number: '160004',
  fsync: 'on',
  fullPageWrites: 'on',
  encoding: 'UTF8',
  standby: 0,
  schema: 'public',
};

describe('server settings', () => {
  it.each([
    ['that are safe', {}, []],
    ['of the oldest supported version', { version: '14.0', number: '140000' }, []],
    ['that a PostgreSQL-compatible server does not know', { fsync: null, fullPageWrites: null }, []],
    ['of a version that is too old', { version: '13.9', number: '130009' }, ['expected PostgreSQL 14 or newer, found 13.9']],
    ['of a standby', { standby: 1 }, ['the server is a hot standby']],
    ['without fsync', { fsync: 'off' }, ['fsync is off']],
    ['without full pages', { fullPageWrites: 'off' }, ['full_page_writes is off']],
    ['of another encoding', { encoding: 'LATIN1' }, ['expected a database with the encoding UTF8, found LATIN1']],
    ['without a schema', { schema: null }, ['there is no schema']],
    [
      'with several problems',
      { standby: 1, fsync: 'off', number: '90600', version: '9.6' },
      ['expected PostgreSQL 14', 'hot standby', 'fsync'],
    ],
  ])('checks server settings %s', (_, facts, expected) => {
    expect(findServerProblems({ ...FINE, ...facts })).toEqual(expected.map((part) => expect.stringContaining(part)));
  });
});

/** Functions in a schema that shadows pg_catalog simulate a server whose advisory locks do nothing. */
describe('advisory locks', () => {
  let admin: pg.Client;
  let inside: pg.Client;
  beforeAll(async () => {
    admin = await connect(server);
    await admin.query(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
    // A schema before pg_catalog shadows its functions.
    await admin.query(`ALTER DATABASE ${name} SET search_path TO shadow, pg_catalog`);
    inside = await connect(url);
  });
  afterAll(async () => {
    await inside?.end();
    await admin?.query(`DROP DATABASE ${name}`);
    await admin?.end();
  });
  afterEach(() => inside.query('DROP SCHEMA shadow CASCADE'));

  it('accepts advisory locks that lock', async () => {
    await inside.query('CREATE SCHEMA shadow');
    await opened();
  });

  it.each([
    [
      'if all of them do nothing',
      [
        stub('pg_advisory_xact_lock', ONE),
        stub('pg_advisory_xact_lock_shared', TWO),
        stub('pg_try_advisory_xact_lock', ONE, 'true'),
        stub('pg_try_advisory_xact_lock', TWO, 'true'),
      ],
      ['pg_advisory_xact_lock locks nothing', 'pg_advisory_xact_lock_shared locks nothing'],
    ],
    ['if named locks do nothing', [stub('pg_advisory_xact_lock', ONE)], ['pg_advisory_xact_lock locks nothing']],
    ['if shared locks do nothing', [stub('pg_advisory_xact_lock_shared', TWO)], ['pg_advisory_xact_lock_shared locks nothing']],
    [
      'if a free lock cannot be taken',
      [stub('pg_advisory_xact_lock', ONE), stub('pg_try_advisory_xact_lock', ONE, 'false')],
      ['pg_try_advisory_xact_lock fails for a lock that no transaction holds'],
    ],
  ])('refuses a server %s', async (_, stubs, expected) => {
    await inside.query(['CREATE SCHEMA shadow', ...stubs].join('; '));
    await expect(opened()).rejects.toMatchObject({
      name: 'SetupError',
      mistakes: expected.map((part) => expect.stringContaining(part)),
    });
  });
});

async function connect(address: URL): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: address.href });
  await client.connect();
  return client;
}
