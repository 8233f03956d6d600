/** The database of a test: its own SQLite file, or its own schema on the PostgreSQL server of this run. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

/** True if this run tests PostgreSQL. */
export const onPostgres: boolean = serverUrl() !== undefined;

/** Returns the address of a new database. A SQLite file is created in `folder`. */
export function createDatabaseUrl(folder: string): string {
  const server = serverUrl();
  return server === undefined ? `sqlite:${join(folder, 'test.db')}` : withSchema(server);
}

/** Set by `setup.ts`, and inherited by the processes that tests start. */
function serverUrl(): string | undefined {
  return process.env['TEST_POSTGRES_URL'];
}

/** Returns the address with a new schema name. */
export function withSchema(server: string): string {
  const url = new URL(server);
  url.searchParams.set('schema', `test_${randomBytes(8).toString('hex')}`);
  return url.href;
}
