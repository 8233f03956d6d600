import type { PolicyStore } from '../authz/index.ts';
import type { Definitions } from '../resources/index.ts';
import { type Database, type MigrateOptions, type MigrationResult, migrate, type Plan } from '../storage/index.ts';

/** The database of a running service, and the store that puts its definitions in force. */
export interface MigratableProject {
  readonly database: Database;
  readonly policyStore: PolicyStore;
}

/** The actor of a migration in the history, and options of `migrate`. */
export interface TableMigration extends Pick<MigrateOptions, 'pending' | 'log'> {
  readonly actor: 'start' | 'dev';
}

/**
 * Migrates the tables and puts the migrated definitions in force. Returns lines for the operator: the performed steps, and the resources
 * that were not migrated.
 */
export async function migrateTables(
  definitions: Definitions,
  { database, policyStore }: MigratableProject,
  { actor, log, pending }: TableMigration,
): Promise<readonly string[]> {
  const result = await migrate(database, definitions, { holder: policyStore, actor, log, ...(pending !== undefined && { pending }) });
  return [...describeDone(result), ...describeHeld(result.remaining)];
}

/** Describes the performed steps: one line for all new tables and a line per other step. Omits the steps of system tables. */
function describeDone({ done }: MigrationResult): readonly string[] {
  const created = new Set(done.filter(({ kind }) => kind === 'createTable').map(({ resource }) => resource));
  const names = [...created].filter((name) => !name.startsWith('_'));
  const others = done.filter(({ resource }) => !created.has(resource) && !resource.startsWith('_'));
  return [...(names.length > 0 ? [`created tables: ${names.join(', ')}`] : []), ...others.map(({ reason }) => reason)];
}

function describeHeld({ steps, held, hash }: Plan): readonly string[] {
  const unsafe = steps.filter(({ resource, risk }) => held.includes(resource) && risk !== 'safe' && risk !== 'needs-backfill');
  const lines = unsafe.map(({ resource, reason }) => `${resource} was not migrated: ${reason}`);
  const isAllowable = unsafe.some(({ risk }) => risk !== 'blocked');
  return isAllowable
    ? [...lines, `to see what would be lost, run: bailiwick storage plan; to allow it, run: bailiwick storage apply --allow ${hash}`]
    : lines;
}
