import { randomBytes } from 'node:crypto';
import Sqlite from 'better-sqlite3';
import pg from 'pg';

/** A database that is filled with SQL: a million rows through an API would take an hour. */
export interface Filling {
  readonly isServer: boolean;
  /** The address of the database, as given to `openFilling`. */
  readonly database: string;
  exec(statement: string): Promise<unknown>;
  columns(table: string): Promise<readonly string[]>;
  close(): Promise<unknown>;
}

/** Opens `sqlite:<path>` or `postgres://…`; `?schema=` selects a schema. */
export function openFilling(database: string): Promise<Filling> {
  return database.startsWith('sqlite:') ? openFile(database.slice('sqlite:'.length)) : openServer(database);
}

/** Returns a WITH clause with the numbers from 1 as `n(i)`, for an INSERT … SELECT on both databases. */
export function numbersTo(count: number): string {
  return `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
}

/** Creates a database on a server of PostgreSQL, and returns its address. */
export async function createServerDatabase(server: string, name: string): Promise<string> {
  const url = new URL(server);
  url.pathname = `/${name}_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`CREATE DATABASE ${url.pathname.slice(1)}`);
  await client.end();
  return url.href;
}

async function openFile(path: string): Promise<Filling> {
  const file = new Sqlite(path);
  // Faster, and durability does not matter while filling.
  file.pragma('synchronous = OFF');
  return {
    isServer: false,
    database: `sqlite:${path}`,
    exec: async (statement) => file.exec(statement),
    columns: async (table) => (file.pragma(`table_info("${table}")`) as readonly { readonly name: string }[]).map(({ name }) => name),
    close: async () => file.close(),
  };
}

async function openServer(database: string): Promise<Filling> {
  const url = new URL(database);
  const schema = url.searchParams.get('schema') ?? 'public';
  url.searchParams.delete('schema');
  const client = new pg.Client({ connectionString: url.href, options: `-c search_path=${schema}` });
  // Failed queries throw; a server that stops also emits an error on its connections, which would end this process.
  client.on('error', () => undefined);
  await client.connect();
  return {
    isServer: true,
    database,
    exec: (statement) => client.query(statement),
    columns: async (table) => {
      const found = await client.query<{ column_name: string }>(
        'SELECT column_name FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2',
        [schema, table],
      );
      return found.rows.map(({ column_name }) => column_name);
    },
    close: () => client.end(),
  };
}
