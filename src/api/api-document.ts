/** The OpenAPI document of the service: the endpoints of the resources that a caller may see, and the others. */
import type { JsonObject } from '../operators/index.ts';
import type { EndpointDescription, RequestLimits } from '../request/index.ts';
import { type Definitions, ordinaryResources, type Resource } from '../resources/index.ts';
import { authEndpoints } from './accounts/index.ts';
import { adminEndpoints } from './admin-routes.ts';
import { createOpenApi } from './openapi/index.ts';
import { recordEndpoints } from './records/index.ts';

/** Input of the document. */
export interface DocumentParts {
  readonly definitions: Definitions;
  /** Names of the resources to describe; all if absent. */
  readonly visible?: readonly string[];
  readonly limits: RequestLimits;
  /** True if `POST /auth/setup` is enabled. */
  readonly hasSetup: boolean;
  /** Further endpoints, of health and of the document itself. */
  readonly others: readonly EndpointDescription[];
}

/** Creates the OpenAPI document. It names neither internal resources nor secret fields. */
export function createApiDocument(parts: DocumentParts): JsonObject {
  const visible = parts.visible === undefined ? undefined : new Set(parts.visible);
  const resources = ordinaryResources(parts.definitions).filter(({ name }) => visible?.has(name) ?? true);
  return createOpenApi({ endpoints: describedEndpoints(resources, parts), resources });
}

/** Returns the endpoints to describe, in the order of the document. */
function describedEndpoints(
  resources: readonly Resource[],
  { limits, hasSetup, others }: Pick<DocumentParts, 'limits' | 'hasSetup' | 'others'>,
): readonly EndpointDescription[] {
  return [...recordEndpoints(resources, limits), ...authEndpoints({ hasSetup }), ...adminEndpoints, ...others];
}
