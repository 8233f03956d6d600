/** Whatever a role is given, at whatever time: what is asked is answered alike, and kept as safely; or it is said that it cannot be. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import type { Database } from '../contract.ts';
import { openPostgres } from './database.ts';
import { openFamily } from './postgres.fixture.ts';

const { url, open, ask, close } = openFamily('storage_postgres_settings');
const ROLE = 'storage_postgres_settings';

let first: Database;
beforeAll(async () => {
  first = await open();
  const drop = `IF EXISTS (SELECT FROM pg_roles WHERE rolname = '${ROLE}') THEN DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}; END IF;`;
  await ask(`DO $$ BEGIN ${drop} END $$; CREATE ROLE ${ROLE} LOGIN PASSWORD 'one of a test'`);
  await ask(`GRANT USAGE, CREATE ON SCHEMA "${ROLE}" TO ${ROLE}`);
});
afterAll(async () => {
  await ask(`DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}`);
  await close(first);
});

function openAsRole(): Promise<Database> {
  const place = new URL(url);
  [place.username, place.password] = [ROLE, 'one of a test'];
  return openPostgres({ url: place.href, connections: 1 });
}

const SHOWN = ['synchronous_commit', 'standard_conforming_strings', 'extra_float_digits', 'transaction_isolation'];

it.each([
  ['others', ['off', 'off', '-15', `'repeatable read'`], ['on', 'on', '1', 'read committed']],
  ['a commit that no standby is waited for', ['local'], ['on', 'on', '1', 'read committed']],
  ['a commit that standbys show', ['remote_apply'], ['remote_apply', 'on', '1', 'read committed']],
])('a role that is given %s', async (_, given, expected) => {
  const names = SHOWN.with(-1, 'default_transaction_isolation');
  await ask(`ALTER ROLE ${ROLE} RESET ALL`);
  for (const [index, value] of given.entries()) await ask(`ALTER ROLE ${ROLE} SET ${names[index]} = ${value}`);
  const database = await openAsRole();
  const seen = () =>
    database.transaction(async (tx) => {
      await tx.run(sql`SELECT 1`);
      const settings = sql.join(SHOWN.map((name, index) => sql`current_setting(${name}) AS ${sql.ref(String(index))}`));
      return tx.one(sql`SELECT ${settings}, 0.1::float8 + 0.2::float8 AS "sum", '\\' AS "text"`);
    });
  // As the transaction's own at first, as the connection's from then on.
  for (let time = 0; time < 3; time++) expect(await seen()).toEqual({ ...expected, sum: 0.30000000000000004, text: '\\' });
  await database.close();
});

it('a role that is given no connection for the record is not ready, though requests could be begun', async () => {
  // It takes two to begin with: whether locks lock is found out between them.
  const database = await openAsRole();
  await ask(`ALTER ROLE ${ROLE} CONNECTION LIMIT 1`);
  const theirs = `FROM pg_stat_activity WHERE usename = '${ROLE}'`;
  await ask(`SELECT pg_terminate_backend(pid) ${theirs}`);
  await expect.poll(async () => (await ask(`SELECT 1 ${theirs}`)).rows).toEqual([]);
  const read = (): Promise<number> =>
    database.transaction(async (tx) => {
      await tx.append({ write: () => [sql`SELECT pg_current_xact_id()`], find: () => sql`SELECT 1 WHERE FALSE` }, ['a line']);
      return 1;
    });
  await database.probe();
  expect(database.healthy).toBe(false);
  await expect(read()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  await ask(`ALTER ROLE ${ROLE} CONNECTION LIMIT 2`);
  expect(await read()).toBe(1);
  expect(database.healthy).toBe(true);
  await database.close();
});
