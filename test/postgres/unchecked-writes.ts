/** Writes what the service would not: references that lead nowhere, values of other times. Behind the back of foreign keys. */
import Sqlite from 'better-sqlite3';
import pg from 'pg';

/** One statement with its values, `$1` and on. */
export interface Unchecked {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** Does them, one after the other, in the database of a place. */
export async function writeUnchecked(place: string, statements: readonly Unchecked[]): Promise<void> {
  if (place.startsWith('sqlite:')) return writeToFile(place.slice('sqlite:'.length), statements);
  const url = new URL(place);
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
