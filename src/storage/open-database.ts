import type { Database } from './contract.ts';
import type { PostgresOptions } from './postgres/database.ts';
import type { AutomaticBackupOptions } from './sqlite/automatic-backups.ts';
import { hasSqlite, isEmpty, openSqlite } from './sqlite/database.ts';

/** Where a database is: `sqlite:` and its file, or `postgres://…`; and how a server is spoken to. */
export interface DatabasePlace extends Omit<PostgresOptions, 'url' | 'makesSchema'> {
  readonly database: string;
  /** What becomes of backups that are made by themselves; a server has tools of its own for it. */
  readonly backups?: AutomaticBackupOptions | undefined;
}

const FILE = 'sqlite:';

/**
 * Opens the database of a place. Creates the file where it is missing, and the schema of a server unless `makesSchema` is false.
 *
 * @throws SetupError where it cannot be opened, or cannot keep what it is given.
 */
export async function openDatabase(
  place: DatabasePlace,
  { makesSchema = true }: { readonly makesSchema?: boolean } = {},
): Promise<Database> {
  const { database, backups, ...options } = place;
  if (!database.startsWith(FILE)) return openServer({ url: database, ...options, makesSchema });
  return openSqlite({ path: pathOf(database), backups, observer: options.observer, log: options.log });
}

/** The same, for looking only: what is not there yet is not made, and an empty one looked at in its place. */
export async function openForReading(place: DatabasePlace): Promise<Database> {
  const { database, backups, ...options } = place;
  if (!database.startsWith(FILE)) return openServer({ url: database, ...options, makesSchema: false });
  return openSqlite({ path: hasSqlite(pathOf(database)) ? pathOf(database) : ':memory:', backups });
}

/** Returns the file of an embedded database without content; undefined for a database with content and for a server. */
export function emptyFileOf(database: string): { readonly path: string; readonly exists: boolean } | undefined {
  if (!database.startsWith(FILE)) return undefined;
  const path = pathOf(database);
  return isEmpty(path) ? { path, exists: hasSqlite(path) } : undefined;
}

/** Whoever has a file waits for no driver of servers. */
async function openServer(options: PostgresOptions): Promise<Database> {
  const { openPostgres } = await import('./postgres/database.ts');
  return openPostgres(options);
}

function pathOf(database: string): string {
  return database.slice(FILE.length);
}
