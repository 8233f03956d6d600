/** Reloads the definitions and policies of a project when their files change. `bailiwick dev` uses it. */
import { type AdminDeps, applyPoliciesInDevelopment } from './api/index.ts';
import type { Config } from './config/index.ts';
import { SetupError } from './errors.ts';
import { loadDevelopedPolicies } from './policy-file-commands.ts';
import { type MigratableProject, migrateTables, readProject, reloadFolder, type WatchedFolder, watchFolders } from './project/index.ts';
import type { Log } from './storage/index.ts';

/** The running service that gets the changes. */
export interface DevelopedService extends MigratableProject {
  readonly admin: AdminDeps;
}

/**
 * Puts the policies of files in force, now and whenever they change, and migrates the tables when definitions change. Logs each change, the findings
 * about the policies and the results of their tests. If a file has mistakes, the last policies stay in force. Returns a function that stops watching.
 */
export async function developProject(config: Config, { database, policyStore, admin }: DevelopedService, log: Log): Promise<() => void> {
  const policies: WatchedFolder = {
    name: 'policies',
    content: 'policies',
    reload: async () => {
      const { policies: files, check } = loadDevelopedPolicies(config);
      const { lines } = await applyPoliciesInDevelopment(admin, { policies: files, orphans: 'deactivate' });
      if (files.length === 0 && lines.length === 1) return;
      for (const [index, line] of lines.entries()) log(index === lines.length - 1 ? `policies applied: ${line}` : line);
      for (const line of limit(await check().catch(toMistakeLines))) log(line);
    },
  };
  const definitions: WatchedFolder = {
    name: 'resources',
    content: 'definitions',
    reload: async () => {
      const lines = await migrateTables(readProject(config.project), { database, policyStore }, { actor: 'dev', log });
      for (const line of lines.length > 0 ? lines : ['definitions reloaded: the tables did not change']) log(line);
      // Policies of files that were not valid under the former definitions may be valid now.
      await reloadFolder(policies, log);
    },
  };
  await reloadFolder(policies, log);
  return watchFolders(config.project, [definitions, policies], log);
}

/** Maximum number of printed lines of findings and tests. */
const MAX_LINES = 20;

/** Returns the first lines, a hint at the others, and the last line, which has the numbers. */
function limit(lines: readonly string[]): readonly string[] {
  const more = lines.length - MAX_LINES;
  if (more <= 0) return lines;
  return [...lines.slice(0, MAX_LINES - 1), `and ${more} more lines, which "bailiwick check" prints`, ...lines.slice(-1)];
}

/** Returns the mistakes in the tests. The policies are in force already. */
function toMistakeLines(error: unknown): readonly string[] {
  if (error instanceof SetupError) return [`the tests were not run: ${error.message}`, ...error.mistakes.map((mistake) => `  ${mistake}`)];
  throw error;
}
