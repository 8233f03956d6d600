/** Writes data that the service would refuse, such as references to missing records, with foreign keys disabled. */
import Sqlite from 'better-sqlite3';
import pg from 'pg';

/** A statement with its values `$1`, `$2` and so on. */
export interface Unchecked {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** Runs the statements in order in the database with this address. */
export async function writeUnchecked(address: string, statements: readonly Unchecked[]): Promise<void> {
  if (address.startsWith('sqlite:')) return writeToFile(address.slice('sqlite:'.length), statements);
  const url = new URL(address);
  const schema = url.searchParams.get('schema');
  url.search = '';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`SET search_path TO "${schema}"; SET session_replication_role = replica`);
  for (const { sql, values } of statements) await client.query(sql, [...values]);
  await client.end();
}

function writeToFile(path: string, statements: readonly Unchecked[]): void {
  const file = new Sqlite(path);
  file.pragma('foreign_keys = OFF');
  for (const { sql, values } of statements) file.prepare(sql.replaceAll(/\$\d+/g, '?')).run(...values);
  file.close();
}
