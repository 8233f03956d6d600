import { type Sql, sql } from '../../sql.ts';
import type { AppendStatements, Database, Transaction } from '../contract.ts';
import type { PostgresOptions } from './database.ts';
import { openFamily, type PostgresFamily } from './postgres.fixture.ts';

/** A schema, and databases whose short attempts end early. */
export interface SlowQueries extends Pick<PostgresFamily, 'url' | 'runSql'> {
  /** Opens a database whose short attempts have 50 ms, and whose connections have their session settings. */
  openShort(options?: Omit<PostgresOptions, 'url'>): Promise<Database>;
  /** Closes a database at the end of the test. */
  closeLater(database: Database): Database;
  /** Closes the databases that were opened. */
  closeAll(): Promise<void>;
  /** Returns the ids in the table `Parent`. */
  ids(): Promise<readonly unknown[]>;
}

/** Opens a schema; created with the first database. */
export function openSlowQueries(schema: string): SlowQueries {
  const { url, open, runSql } = openFamily(schema);
  const opened: Database[] = [];
  function closeLater(database: Database): Database {
    opened.push(database);
    return database;
  }
  return {
    url,
    runSql,
    async openShort(options = {}) {
      const database = closeLater(await open({ shortAttempt: 50, ...options }));
      for (let time = 0; time < 2; time++) await database.transaction((tx) => tx.run(sql`SELECT 1`));
      return database;
    },
    closeLater,
    closeAll: async () => void (await Promise.all(opened.splice(0).map((database) => database.close()))),
    ids: async () => (await runSql('SELECT "id" FROM "Parent" ORDER BY "id"')).rows.map(({ id }) => id),
  };
}

/** Returns a statement with a deadline check that takes some seconds. */
export function slow(tx: Transaction, seconds = 0.3): Sql {
  return sql`SELECT pg_sleep(${seconds}), 1 AS "one" WHERE ${tx.dialect.deadlineCheck(sql.table('Parent'))}`;
}

export const insert = (tx: Transaction, id: string): Promise<unknown> => tx.run(sql`INSERT INTO "Parent" ("id") VALUES (${id})`);

/** Appends ids to the table `Parent`. */
export const appended: AppendStatements<string> = {
  write: (_, rows) => rows.map((id) => sql`INSERT INTO "Parent" ("id") VALUES (${id})`),
  findCommitted: (id) => sql`SELECT 1 FROM "Parent" WHERE "id" = ${id}`,
};
