/** The state of a project's data, for an operator on its machine, while its service runs or not. */
import { searchEntries } from '../audit/index.ts';
import { SetupError } from '../errors.ts';
import {
  countUsersAndPolicies,
  currentRevision,
  describeDamage,
  emptyFileOf,
  type Log,
  loadDatabaseVersion,
  openForReading,
  type Transaction,
  verifyRows,
} from '../storage/index.ts';
import { backupFolder, type CreatablePlace, toDatabasePlace } from './project-database.ts';
import { openTables, type Tables } from './project-tables.ts';
import { findLastBackup } from './system-source.ts';

/** Steps that a start would perform, and resources that it would not migrate. */
export interface PendingMigration {
  readonly steps: number;
  readonly held: readonly string[];
  /** The reason why a start of this version would fail, such as that a newer version has migrated the database. */
  readonly refused?: string;
}

/** The state of a project's data. */
export interface ProjectStatus {
  readonly project: string;
  readonly database: 'sqlite' | 'postgres';
  /** Undefined if there is no database yet; then the other members are absent too. */
  readonly databaseVersion?: string | undefined;
  /** The current revision of policies, assignments and definitions. */
  readonly revision?: number;
  readonly migration?: PendingMigration;
  readonly users?: number;
  /** Active admins. Without one, the service can be set up. */
  readonly admins?: number;
  readonly policies?: number;
  readonly activePolicies?: number;
  /** Time of the last audit entry, ISO 8601. */
  readonly lastEntryAt?: string | undefined;
  /** The newest automatic backup of a SQLite database. */
  readonly lastBackup?: { readonly name: string; readonly at: string; readonly bytes: number } | undefined;
  /** Descriptions of policies, assignments and users whose checksums are wrong. */
  readonly damaged?: readonly string[];
}

/**
 * Loads the state of a project's data. Creates and changes nothing. Waits for a migration of another process, and logs that it waits.
 *
 * @throws SetupError that lists every mistake of every definition file
 */
export async function loadProjectStatus(place: CreatablePlace, { log }: { readonly log: Log }): Promise<ProjectStatus> {
  const database = place.database.startsWith('sqlite:') ? 'sqlite' : 'postgres';
  const tables = await openTables(place, { log });
  try {
    const migration = await loadPendingMigration(tables);
    if (emptyFileOf(place.database) !== undefined) return { project: place.project, database };
    const backup = database === 'sqlite' ? findLastBackup(backupFolder(place.data)) : undefined;
    return { project: place.project, database, migration, ...(await loadData(place)), lastBackup: backup };
  } finally {
    await tables.close();
  }
}

async function loadPendingMigration(tables: Tables): Promise<PendingMigration> {
  try {
    const { steps, held } = await tables.plan();
    return { steps: steps.length, held };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { steps: 0, held: [], refused: error.message };
  }
}

type StoredStatus = Omit<ProjectStatus, 'project' | 'database' | 'migration' | 'lastBackup'>;

async function loadData(place: CreatablePlace): Promise<StoredStatus> {
  const opened = await openForReading(toDatabasePlace(place));
  try {
    const stored = await opened.transaction(loadCounts, { unlimited: true });
    const rows = await verifyRows((work) => opened.transaction(work, { unlimited: true }));
    return { ...stored, damaged: (rows?.damaged ?? []).map(describeDamage) };
  } finally {
    await opened.close();
  }
}

async function loadCounts(tx: Transaction): Promise<StoredStatus> {
  const { entries } = await searchEntries(tx, { limit: 1 });
  return {
    databaseVersion: await loadDatabaseVersion(tx),
    revision: await currentRevision(tx),
    ...(await countUsersAndPolicies(tx)),
    lastEntryAt: entries[0]?.at,
  };
}
