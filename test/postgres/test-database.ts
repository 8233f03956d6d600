/** Where a test's database is: a file of its own, or a schema of its own on the server that this run is about. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

/** Whether this run is about PostgreSQL. */
export const onPostgres: boolean = serverUrl() !== undefined;

/** How many cases at random to try: on a server each takes many times as long. Whether they tell anything, only many show. */
export function scaleRuns(count: number): number {
  return onPostgres ? Math.ceil(count / 10) : count;
}

/** The address of a database that no other test has; its file, where it is one, in `folder`. */
export function testDatabaseUrl(folder: string): string {
  const server = serverUrl();
  return server === undefined ? `sqlite:${join(folder, 'test.db')}` : withSchema(server);
}

/** Set by `worker.ts`; the processes that tests start have it too. */
function serverUrl(): string | undefined {
  return process.env['TEST_POSTGRES_URL'];
}

/** The address with a schema of its own. */
export function withSchema(server: string): string {
  const url = new URL(server);
  url.searchParams.set('schema', `test_${randomBytes(8).toString('hex')}`);
  return url.href;
}
