/** The folders of a project's definitions and policies. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';
import { errorCode } from '../files/index.ts';
import { type Definitions, printMistake } from '../resources/index.ts';
import { type ComposedDefinitions, loadProject } from '../resources/system/index.ts';

/** Returns the folder of the definition files. */
function definitionFolder(project: string): string {
  return join(project, 'resources');
}

/** Returns the folder of the policies and their tests. */
export function policyFolder(project: string): string {
  return join(project, 'policies');
}

/** Returns true if the project has a folder of policies. */
export function hasPolicyFolder(project: string): boolean {
  return existsSync(policyFolder(project));
}

/** Loads the definitions of the project and of the system, with all mistakes. @throws SetupError if the folder of definitions is missing or cannot be read */
export function loadDefinitions(project: string): ComposedDefinitions {
  const folder = definitionFolder(project);
  if (!existsSync(folder))
    throw new SetupError(
      `there is no folder ${folder}; name the folder that contains resources/ with --project, or create a project with "bailiwick init"`,
    );
  refuseUnreadable(folder);
  return loadProject(folder);
}

/** Refuses a folder that cannot be read: without its definitions, all policies and tests would have mistakes. */
function refuseUnreadable(folder: string): void {
  try {
    readdirSync(folder);
  } catch (error) {
    throw new SetupError(`cannot read the folder of definitions ${folder} (${errorCode(error)})`);
  }
}

/** Loads the definitions of the project and of the system. @throws SetupError that lists every mistake of every file. */
export function readProject(project: string): Definitions {
  const { definitions, mistakes } = loadDefinitions(project);
  if (mistakes.length === 0) return definitions;
  throw new SetupError(
    `${mistakes.length} ${mistakes.length === 1 ? 'mistake' : 'mistakes'} in the definitions`,
    mistakes.map(printMistake),
  );
}
