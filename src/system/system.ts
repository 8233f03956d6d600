import type { JsonObject } from '../operators/index.ts';
import { type Definitions, type Resource, readDefinition } from '../resource/index.ts';
import { DECISION_DEFINITIONS } from './decision.ts';
import { POLICY_DEFINITIONS } from './policy.ts';
import { SERVICE_DEFINITIONS } from './service.ts';
import { USER } from './user.ts';

/** The service's own resources by name: `User`, and the internal ones, whose names begin with `_`. */
export const SYSTEM: Definitions = new Map(
  [USER, ...POLICY_DEFINITIONS, ...DECISION_DEFINITIONS, ...SERVICE_DEFINITIONS].map(readOwn).map((resource) => [resource.name, resource]),
);

function readOwn(source: JsonObject): Resource {
  const { resource, mistakes } = readDefinition(source, { builtIn: true });
  if (resource === undefined) {
    throw new Error(`${String(source['name'])}: ${mistakes.map(({ path, detail }) => `${path.join('.')}: ${detail}`).join('; ')}`);
  }
  return resource;
}
