/** A project's definition files: loads them, and watches them for changes. */
import { existsSync, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';
import { type Definitions, printMistake } from '../resources/index.ts';
import { loadProject } from '../resources/system/index.ts';

/** Returns the folder of the definition files. */
export function definitionFolder(project: string): string {
  return join(project, 'resources');
}

/** Returns the folder of the policies and their tests. */
export function policyFolder(project: string): string {
  return join(project, 'policies');
}

/** Returns true if the project has policies in files. */
export function hasPolicyFiles(project: string): boolean {
  const folder = policyFolder(project);
  return existsSync(folder) && readdirSync(folder).some((name) => /(?<!\.test)\.(ya?ml|json)$/.test(name));
}

/** Loads the definitions of the project and of the system. @throws SetupError that lists every mistake of every file. */
export function readProject(project: string): Definitions {
  const folder = definitionFolder(project);
  if (!existsSync(folder)) throw new SetupError(`there is no folder ${folder}; name the folder that contains resources/ with --project`);
  const { definitions, mistakes } = loadProject(folder);
  if (mistakes.length === 0) return definitions;
  throw new SetupError(
    `${mistakes.length} ${mistakes.length === 1 ? 'mistake' : 'mistakes'} in the definitions`,
    mistakes.map(printMistake),
  );
}

/** Milliseconds that must pass without a change before a reload, because editors often save a file in several steps. */
const DEBOUNCE = 150;

/** Matches the names of temporary files of editors. */
const TEMPORARY = /^\.|~$/;

/**
 * Calls `reload` after files of a folder have changed; calls never overlap. Logs the mistakes of a reload that fails. Returns a function
 * that stops watching.
 */
export function watchDefinitions(folder: string, reload: () => Promise<void>, log: (line: string) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const watcher = watch(folder, (_, file) => {
    if (file !== null && TEMPORARY.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(reload).catch((error: unknown) => logMistakes(error, log));
    }, DEBOUNCE);
  });
  watcher.on('error', (error) => log(`stopped watching the definitions: ${error.message}`));
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

function logMistakes(error: unknown, log: (line: string) => void): void {
  const message = error instanceof Error ? error.message : String(error);
  log(`the definitions stay as they were: ${message}`);
  if (error instanceof SetupError) for (const mistake of error.mistakes) log(`  ${mistake}`);
}
