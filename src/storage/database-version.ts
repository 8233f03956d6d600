import { sql } from '../sql.ts';
import type { Transaction } from './contract.ts';

/** Loads the version of the database: of the SQLite library, or of the PostgreSQL server. */
export async function loadDatabaseVersion(tx: Transaction): Promise<string> {
  const version = tx.dialect.name === 'sqlite' ? sql`sqlite_version()` : sql`current_setting('server_version')`;
  const row = await tx.one<{ readonly version: string }>(sql`SELECT ${version} AS "version"`);
  return row?.version ?? '';
}
