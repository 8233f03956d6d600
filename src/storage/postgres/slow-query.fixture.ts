import { type Sql, sql } from '../../sql.ts';
import type { AppendStatements, Database, Statement, Transaction } from '../contract.ts';
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

/**
 * Runs units of work at the same time, each of which reads its number. The first attempt of the first one ends the connection on which it reads. Returns the
 * numbers, and the maximum attempts at a unit of work.
 */
export async function runWithLostConnection(
  database: Database,
  { count, ...kind }: { readonly count: number } & Pick<Statement, 'isLookup'>,
): Promise<{ readonly numbers: readonly unknown[]; readonly attempts: number }> {
  const attempts = Array.from({ length: count }, () => 0);
  const work = (number: number) => (tx: Transaction) => {
    const attempt = (attempts[number] ?? 0) + 1;
    attempts[number] = attempt;
    const cut = number === 0 && attempt === 1 ? 'pg_terminate_backend(pg_backend_pid())' : 'true';
    return tx.one<{ number: number }>({ sql: `SELECT ${number} AS "number" WHERE ${cut}`, parameters: [], ...kind });
  };
  const rows = await Promise.all(attempts.map((_, number) => database.transaction(work(number))));
  return { numbers: rows.map((row) => row?.number), attempts: Math.max(...attempts) };
}

/** Appends ids to the table `Parent`. */
export const appended: AppendStatements<string> = {
  write: (_, rows) => rows.map((id) => sql`INSERT INTO "Parent" ("id") VALUES (${id})`),
  findCommitted: (id) => sql`SELECT 1 FROM "Parent" WHERE "id" = ${id}`,
};
