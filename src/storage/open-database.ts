import type { BatchLimits } from './attempt.ts';
import type { Database } from './contract.ts';
import { readingEarlierTables } from './earlier-tables.ts';
import type { PostgresOptions } from './postgres/database.ts';
import type { AutomaticBackupOptions } from './sqlite/automatic-backups.ts';
import { hasSqlite, isEmpty, openSqlite } from './sqlite/database.ts';

/** The address of a database (`sqlite:` and the path of a file, or a `postgres://…` URL), and the options of its connections. */
export interface DatabaseAddress extends Omit<PostgresOptions, 'url' | 'makesSchema'> {
  readonly database: string;
  /** Folder and number of the automatic backups. Ignored for a server, which has backup tools of its own. */
  readonly backups?: AutomaticBackupOptions | undefined;
  /** Time limits of attempts in a commit batch of SQLite. Ignored for a server, whose units of work do not wait for each other. */
  readonly timeLimits?: BatchLimits | undefined;
}

const SQLITE_SCHEME = 'sqlite:';

/**
 * Opens a database. Creates a missing file, and a missing schema unless `makesSchema` is false.
 *
 * @throws SetupError if the database cannot be opened or cannot store data safely.
 */
export async function openDatabase(
  address: DatabaseAddress,
  { makesSchema = true }: { readonly makesSchema?: boolean } = {},
): Promise<Database> {
  const { database, backups, timeLimits, ...options } = address;
  if (!database.startsWith(SQLITE_SCHEME)) return openServer({ url: database, ...options, makesSchema });
  const { readers, readerQueue, timeZone, observer, log } = options;
  return openSqlite({ path: pathOf(database), backups, timeLimits, readers, readerQueue, timeZone, observer, log });
}

/** Opens a database for reading, also one of an earlier version of the program: creates nothing, and opens an empty database in memory if the file is missing. */
export async function openForReading(address: DatabaseAddress): Promise<Database> {
  const { database, backups, ...options } = address;
  const { readers, readerQueue } = options;
  const opened = database.startsWith(SQLITE_SCHEME)
    ? openSqlite({ path: hasSqlite(pathOf(database)) ? pathOf(database) : ':memory:', backups, readers, readerQueue })
    : await openServer({ url: database, ...options, makesSchema: false });
  return withTransactions(opened, readingEarlierTables(opened.transaction));
}

/**
 * Returns the path of a SQLite file that is missing or empty, and whether the file exists; undefined for a database with content and for a
 * server.
 */
export function emptyFileOf(database: string): { readonly path: string; readonly exists: boolean } | undefined {
  if (!database.startsWith(SQLITE_SCHEME)) return undefined;
  const path = pathOf(database);
  return isEmpty(path) ? { path, exists: hasSqlite(path) } : undefined;
}

function withTransactions(database: Database, transaction: Database['transaction']): Database {
  return {
    dialect: database.dialect,
    backups: database.backups,
    get healthy() {
      return database.healthy;
    },
    get fault() {
      return database.fault;
    },
    get metrics() {
      return database.metrics;
    },
    probe: () => database.probe(),
    transaction,
    close: () => database.close(),
  };
}

/** Imports the PostgreSQL driver on demand; installations with SQLite do not load it. */
async function openServer(options: PostgresOptions): Promise<Database> {
  const { openPostgres } = await import('./postgres/database.ts');
  return openPostgres(options);
}

function pathOf(database: string): string {
  return database.slice(SQLITE_SCHEME.length);
}
