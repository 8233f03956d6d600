import pg from 'pg';
import { sql } from '../../sql.ts';
import type { AppendStatements, Database, Transaction } from '../contract.ts';
import { openPostgres, type PostgresOptions } from './database.ts';
import { postgresDialect } from './sql-dialect.ts';

/** A schema for one test on the server under test, and a second client that queries it directly. */
export interface PostgresFamily {
  readonly url: URL;
  open(options?: Omit<PostgresOptions, 'url'>): Promise<Database>;
  /** Runs a statement on the connection of the second client. */
  runSql(text: string, values?: readonly unknown[]): Promise<pg.QueryResult>;
  /** Closes the database and drops the schema. */
  close(database: Database): Promise<void>;
}

/** Creates empty tables of parents and children. */
export const FAMILY: string = `
  DROP TABLE IF EXISTS "Child", "Parent";
  CREATE TABLE "Parent" ("id" TEXT PRIMARY KEY, "n" BIGINT, "x" DOUBLE PRECISION, "is" BOOLEAN, "j" JSON, "t" TEXT, UNIQUE ("t", "n"));
  CREATE TABLE "Child" ("id" TEXT PRIMARY KEY, "parentId" TEXT REFERENCES "Parent" ("id"), CHECK ("id" <> ''))`;

/** Appends entries to the table "Log", which has only ids. */
export const LOG: AppendStatements<string> = {
  write: (_, ids) => [sql`INSERT INTO "Log" ("id") ${postgresDialect.rowsOf?.([{ type: 'text', values: ids }])}`],
  findCommitted: (id) => sql`SELECT 1 FROM "Log" WHERE "id" = ${id}`,
};

/** Opens the schema; created with the first statement. */
export function openFamily(schema: string): PostgresFamily {
  const server = process.env['TEST_POSTGRES_URL'] ?? '';
  const url = new URL(server);
  url.searchParams.set('schema', schema);
  let other: Promise<pg.Client> | undefined;

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: server });
    await client.connect();
    await client.query(`SET search_path TO "${schema}"`);
    return client;
  }

  // One after the other: tests that run at the same time share the client, and the driver warns of a query while others wait.
  let last: Promise<unknown> = Promise.resolve();
  const runSql: PostgresFamily['runSql'] = (text, values) => {
    const result = last.then(async () => {
      other ??= connect();
      return (await other).query(text, values === undefined ? undefined : [...values]);
    });
    last = result.catch(() => undefined);
    return result;
  };
  return {
    url,
    runSql,
    // Which connection a statement takes must not depend on the load of the test process.
    open: (options = {}) => openPostgres({ url: url.href, isContended: () => false, ...options }),
    async close(database) {
      await database.close();
      await runSql(`DROP SCHEMA "${schema}" CASCADE`);
      await (await other)?.end();
    },
  };
}

/** Runs `work` while another transaction is open, which has run `hold`. `work` can end it. */
export async function whileOpen<T>(
  database: Database,
  hold: (tx: Transaction) => Promise<unknown>,
  work: (end: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = database.transaction(
    async (tx) => {
      await hold(tx);
      held.resolve();
      await free.promise;
    },
    { unlimited: true },
  );
  await Promise.race([held.promise, holder]);
  const end = (): Promise<void> => {
    free.resolve();
    return holder;
  };
  try {
    return await work(end);
  } finally {
    await end();
  }
}
