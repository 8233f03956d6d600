import { SetupError } from '../errors.ts';
import { sql } from '../sql.ts';
import type { Database } from './contract.ts';

/** The result of the checks that the database itself offers. */
export interface DatabaseCheck {
  /** The contradictions found in the database; none if it is intact. */
  readonly damage: readonly string[];
  /** A sentence about the checks that were made. */
  readonly summary: string;
}

const SQLITE = 'sqlite:';

/**
 * Runs the checks of the database: `integrity_check` and `foreign_key_check` of SQLite; on PostgreSQL, whether pages have checksums and how
 * many had a wrong one when they were read.
 */
export async function checkDatabase(database: Database, address: string): Promise<DatabaseCheck> {
  return address.startsWith(SQLITE) ? checkFile(address.slice(SQLITE.length)) : checkServer(database);
}

async function checkFile(path: string): Promise<DatabaseCheck> {
  const { validateForeignKeys, validateIntegrity } = await import('./sqlite/write-backup.ts');
  const damage: string[] = [];
  for (const validate of [validateIntegrity, validateForeignKeys]) {
    try {
      validate(path);
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      damage.push(...error.mistakes);
    }
  }
  return { damage, summary: 'the file passed integrity_check and foreign_key_check' };
}

/** The page checksums of a server: the setting, and the failures that it counted; null if it counts none. */
export interface PageChecksums {
  readonly setting: string;
  readonly failures: number | null;
  readonly last: string | null;
}

async function checkServer(database: Database): Promise<DatabaseCheck> {
  const found = await database.transaction((tx) =>
    tx.one<PageChecksums>(sql`
      SELECT current_setting('data_checksums') AS "setting", "checksum_failures" AS "failures", "checksum_last_failure"::text AS "last"
      FROM pg_stat_database WHERE "datname" = current_database()`),
  );
  return toServerCheck(found);
}

/** Returns the result of a check of the page checksums. */
export function toServerCheck(found: PageChecksums | undefined): DatabaseCheck {
  const failures = Number(found?.failures ?? 0);
  if (failures > 0)
    return {
      damage: [`${failures} pages of the server had a wrong checksum, the last at ${found?.last}`],
      summary: 'the server has found pages with a wrong checksum',
    };
  const summary =
    found?.setting === 'on'
      ? 'the server checks the checksums of its pages and has found no wrong one'
      : 'the pages of the server have no checksums: enable them with pg_checksums';
  return { damage: [], summary };
}
