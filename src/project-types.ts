import { renderClientTypes } from './api/client-types/index.ts';
import { readProject } from './project/index.ts';
import { ordinaryResources } from './resources/index.ts';

/** Returns a TypeScript module with the types of the project's resources. @throws SetupError that lists every mistake of the definitions */
export function renderProjectTypes(project: string): string {
  return renderClientTypes(ordinaryResources(readProject(project)));
}
