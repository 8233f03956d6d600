/**
 * A project's tables without a service: looked at, made to follow the definitions, rid of what is kept aside. What only looks
 * makes no database where there is none.
 */
import { existsSync } from 'node:fs';
import {
  type DeletedRecords,
  type Evolution,
  type Evolved,
  evolve,
  listDeletedRecords,
  listEvolutions,
  openSqlite,
  type Plan,
  type PruneOptions,
  planFor,
  planPrune,
  prune,
  type Step,
  type Tell,
  type Transaction,
  whenFree,
} from '../storage/index.ts';
import { databasePath, type ProjectPlace, readProject, toKeptBackups } from './place.ts';

/** What can be done with them. */
export interface Tables {
  /** What would have to be done for tables to follow the definition files. */
  plan(): Promise<Plan>;
  /** Does what loses nothing, and what else the plan of this hash has. @throws SetupError where there is another plan by now. */
  apply(options: { readonly allow?: string | undefined }): Promise<Evolved>;
  /** What was done, the newest first. */
  history(limit: number): Promise<readonly Evolution[]>;
  /** What is kept of deleted records, by resource. */
  deletedRecords(): Promise<readonly DeletedRecords[]>;
  /** What is kept aside, as steps that would drop it for good. */
  planPrune(options: PruneOptions): Promise<Plan>;
  /** Drops it. */
  prune(options: PruneOptions): Promise<readonly Step[]>;
  close(): Promise<void>;
}

const ACTOR = 'cli';

/** Opens the tables of a project. @throws SetupError with every mistake of every definition file. */
export function openTables(place: ProjectPlace, { tell }: { readonly tell: Tell }): Tables {
  const definitions = readProject(place.project);
  const path = databasePath(place.database);
  const backups = toKeptBackups(place);
  let database = openSqlite({ path: existsSync(path) ? path : ':memory:', backups });
  const look = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => whenFree(() => database.transaction(work), tell);

  return {
    plan: () => planFor(database, definitions, tell),
    async apply({ allow }) {
      if (!existsSync(path)) {
        await database.close();
        database = openSqlite({ path, backups });
      }
      return evolve(database, definitions, { actor: ACTOR, thorough: true, tell, ...(allow !== undefined && { allow }) });
    },
    history: (limit) => look((tx) => listEvolutions(tx, limit)),
    deletedRecords: () => look(listDeletedRecords),
    planPrune: (options) => look((tx) => planPrune(tx, definitions, options)),
    prune: (options) => prune(database, definitions, { actor: ACTOR, tell, ...options }),
    close: () => database.close(),
  };
}
