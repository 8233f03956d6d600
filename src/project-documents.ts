/** Documents that are rendered from a project's definitions, without a database. */
import { renderClientTypes } from './api/client-types/index.ts';
import { loadApiDocument } from './api/index.ts';
import { toRequestLimits } from './component-options.ts';
import type { Config } from './config/index.ts';
import { HTTP_ENDPOINTS } from './http/index.ts';
import { readProject } from './project/index.ts';
import { ordinaryResources } from './resources/index.ts';

/** Returns a TypeScript module with the types of the project's resources. @throws SetupError that lists every mistake of the definitions */
export function renderProjectTypes(project: string): string {
  return renderClientTypes(ordinaryResources(readProject(project)));
}

/** Returns the OpenAPI document with all resources of the project, as JSON. @throws SetupError that lists every mistake of the definitions */
export async function renderProjectApi(config: Config): Promise<string> {
  const definitions = readProject(config.project);
  const hasSetup = config.setup !== 'off';
  const document = await loadApiDocument({ definitions, limits: toRequestLimits(config), hasSetup, others: HTTP_ENDPOINTS });
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
