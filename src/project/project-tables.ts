/**
 * A project's tables without a service: looked at, made to follow the definitions, rid of what is kept aside. What only looks
 * makes no database where there is none.
 */
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
  type PruneOptions,
  planMigration,
  planPruneArchived,
  pruneArchived,
  retryWhileBusy,
  type Step,
  type Transaction,
} from '../storage/index.ts';
import { fitProgram, noteRestored, signRestored } from './after-restore.ts';
import { type CreatablePlace, openProjectDatabase } from './project-database.ts';
import { readProject, toDatabasePlace } from './project-paths.ts';

/** What can be done with them. */
export interface Tables {
  /** What would have to be done for tables to follow the definition files. */
  plan(): Promise<Plan>;
  /** Does what loses nothing, and what else the plan of this hash has. @throws SetupError where there is another plan by now. */
  apply(options: { readonly allow?: string | undefined }): Promise<MigrationResult>;
  /** What was done, the newest first. */
  history(limit: number): Promise<readonly MigrationRecord[]>;
  /** What is kept of deleted records, by resource. */
  deletedRecords(): Promise<readonly DeletedRecords[]>;
  /** What is kept aside, as steps that would drop it for good. */
  planPrune(options: PruneOptions): Promise<Plan>;
  /** Drops it. */
  prune(options: PruneOptions): Promise<readonly Step[]>;
  /** After a restore by tools of the database: ends every session and begins a new epoch, on the record. @throws SetupError where there is nothing. */
  noteRestored(): Promise<void>;
  close(): Promise<void>;
}

const ACTOR = 'cli';

/** Opens the tables of a project. @throws SetupError with every mistake of every definition file. */
export async function openTables(place: CreatablePlace, { tell }: { readonly tell: Log }): Promise<Tables> {
  const definitions = readProject(place.project);
  let opened = await openForReading(toDatabasePlace(place));
  const look = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
    retryWhileBusy(() => opened.transaction(work, { longRunning: true }), tell);

  return {
    plan: () => planMigration(opened, definitions, tell),
    async apply({ allow }) {
      // What was opened for looking may be an empty one in its place.
      await opened.close();
      opened = await openProjectDatabase(place, { log: tell });
      return migrate(opened, definitions, { actor: ACTOR, thorough: true, tell, ...(allow !== undefined && { allow }) });
    },
    history: (limit) => look((tx) => listMigrations(tx, limit)),
    deletedRecords: () => look(listDeletedRecords),
    planPrune: (options) => look((tx) => planPruneArchived(tx, definitions, options)),
    prune: (options) => pruneArchived(opened, definitions, { actor: ACTOR, tell, ...options }),
    async noteRestored() {
      const from = performance.now();
      if ((await look((tx) => listMigrations(tx, 1))).length === 0)
        throw new SetupError('there is nothing in the database that was restored');
      await fitProgram(opened);
      await opened.transaction((tx) => noteRestored(tx, { above: 0, reason: 'restored by tools of the database', from }));
      await signRestored(opened, place);
    },
    close: () => opened.close(),
  };
}
