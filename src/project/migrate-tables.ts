import type { PolicyStore } from '../authz/index.ts';
import type { Definitions } from '../resources/index.ts';
import { type Database, type Log, type MigrationResult, migrate, type Plan } from '../storage/index.ts';
import { definitionFolder, hasPolicyFiles, policyFolder, readProject, watchDefinitions } from './project-definitions.ts';

/** The database of a running service, and the store that puts its definitions in force. */
export interface MigratableProject {
  readonly database: Database;
  readonly policyStore: PolicyStore;
}

/**
 * Migrates the tables and puts the migrated definitions in force. Returns lines for the operator: the performed steps, and the resources
 * that were not migrated.
 */
export async function migrateTables(
  definitions: Definitions,
  { database, policyStore }: MigratableProject,
  { actor, log }: { readonly actor: 'start' | 'dev'; readonly log: Log | undefined },
): Promise<readonly string[]> {
  const result = await migrate(database, definitions, { holder: policyStore, actor, log });
  return [...describeDone(result), ...describeHeld(result.plan)];
}

/** Migrates the tables when definition files change, and logs each change. Returns a function that ends the watch. */
export function watchProject(project: string, core: MigratableProject, log: Log): () => void {
  if (hasPolicyFiles(project)) log(describeApply(project));
  return watchDefinitions(
    definitionFolder(project),
    async () => {
      const lines = await migrateTables(readProject(project), core, { actor: 'dev', log });
      for (const line of lines.length > 0 ? lines : ['definitions reloaded: the tables did not change']) log(line);
    },
    log,
  );
}

/** Returns the line that says how the policies of the folder take effect, because a watch reloads only definitions. */
function describeApply(project: string): string {
  const named = project === '.' ? '' : ` --project ${project}`;
  return `the policies in ${policyFolder(project)} take effect when you apply them: npx bailiwick policies apply${named} --as <email of an admin>`;
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
