/** Plans, migrates and prunes a project's tables without a service. */
import { SetupError } from '../errors.ts';
import {
  type DeletedRecords,
  type Log,
  listDeletedRecords,
  listMigrations,
  type MigrationRecord,
  type MigrationResult,
  migrate,
  openForReading,
  type Plan,
  type PruneArchivedOptions,
  planMigration,
  planPruneArchived,
  pruneArchived,
  retryWhileBusy,
  type Step,
  type Transaction,
} from '../storage/index.ts';
import { recordRestored, signRestored } from './project-backups.ts';
import { type CreatablePlace, migrateSystemTables, openProjectDatabase, toDatabasePlace } from './project-database.ts';
import { readProject } from './project-definitions.ts';

/** The operations on a project's tables. Operations that only read create no database. */
export interface Tables {
  /** Returns the steps that migrate the tables to the definition files. */
  plan(): Promise<Plan>;
  /**
   * Migrates the tables to the definition files. `allow` is the hash of the plan whose lossy steps are confirmed. @throws SetupError if the
   * plan has changed since its confirmation.
   */
  apply(options: { readonly allow?: string | undefined }): Promise<MigrationResult>;
  /** Lists the latest migrations, newest first. */
  history(limit: number): Promise<readonly MigrationRecord[]>;
  /** Counts soft-deleted records by resource. */
  deletedRecords(): Promise<readonly DeletedRecords[]>;
  /** Plans the permanent deletion of archived tables and columns, and, with `deletedBefore`, of old soft-deleted records. */
  planPrune(options: PruneArchivedOptions): Promise<Plan>;
  /** Permanently deletes archived tables and columns, and, with `deletedBefore`, old soft-deleted records. */
  prune(options: PruneArchivedOptions): Promise<readonly Step[]>;
  /**
   * Completes a restore that was performed with the tools of the database, such as pg_restore: ends every session, begins a new revision,
   * records the restore and signs a checkpoint.
   *
   * @throws SetupError if the database is empty.
   */
  noteRestored(): Promise<void>;
  close(): Promise<void>;
}

const ACTOR = 'cli';

/** Opens the tables of a project. @throws SetupError that lists every mistake of every definition file. */
export async function openTables(place: CreatablePlace, { log }: { readonly log: Log }): Promise<Tables> {
  const definitions = readProject(place.project);
  let opened = await openForReading(toDatabasePlace(place));
  const read = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
    retryWhileBusy(() => opened.transaction(work, { unlimited: true }), log);

  return {
    plan: () => planMigration(opened, definitions, log),
    async apply({ allow }) {
      // If there is no database file, `openForReading` has opened an empty database in memory.
      await opened.close();
      opened = await openProjectDatabase(place, { log });
      return migrate(opened, definitions, { actor: ACTOR, thorough: true, log, ...(allow !== undefined && { allow }) });
    },
    history: (limit) => read((tx) => listMigrations(tx, limit)),
    deletedRecords: () => read(listDeletedRecords),
    planPrune: (options) => read((tx) => planPruneArchived(tx, definitions, options)),
    prune: (options) => pruneArchived(opened, definitions, { actor: ACTOR, log, ...options }),
    async noteRestored() {
      const from = performance.now();
      if ((await read((tx) => listMigrations(tx, 1))).length === 0) throw new SetupError('the database is empty; restore it first');
      await migrateSystemTables(opened);
      await opened.transaction((tx) => recordRestored(tx, { above: 0, reason: 'restored by tools of the database', from }));
      await signRestored(opened, place);
    },
    close: () => opened.close(),
  };
}
