import type { JsonObject } from '../../operators/index.ts';
import { type Definitions, ordinaryResources } from '../../resources/index.ts';
import { adminPaths } from './admin-paths.ts';
import { adminSchemas } from './admin-schemas.ts';
import { authPaths, servicePaths } from './auth-paths.ts';
import { batchPaths, batchSchemas } from './batch-paths.ts';
import { filterSchemas } from './filter-parameters.ts';
import { HEADERS, PARAMETERS } from './openapi-operation.ts';
import { problemResponses, problemSchemas } from './problem-schemas.ts';
import { resourcePaths } from './resource-paths.ts';
import { resourceSchemas } from './resource-schemas.ts';
import { TRANSFER_SCHEMAS } from './transfer-paths.ts';

/** What the description is made from. */
export interface OpenApiParts {
  readonly definitions: Definitions;
  readonly serverUrl?: string;
  /** True if `POST /auth/setup` is enabled, which is the default. */
  readonly hasSetup?: boolean;
  /** Names of the resources to describe; all if absent. */
  readonly visible?: ReadonlySet<string>;
}

/** Of the API, not of the program: which that is concerns nobody who has not logged in. */
const API_VERSION = '1';

/** Describes the service as OpenAPI 3.1. Internal resources and secret fields are left out. */
export function createOpenApi({ definitions, serverUrl, hasSetup = true, visible }: OpenApiParts): JsonObject {
  const resources = ordinaryResources(definitions).filter(({ name }) => visible?.has(name) ?? true);
  const { '/auth/setup': setup, ...signing } = authPaths;
  const auth = hasSetup && setup !== undefined ? { '/auth/setup': setup, ...signing } : signing;
  return {
    openapi: '3.1.1',
    info: { title: 'Bailiwick', version: API_VERSION, description: DESCRIPTION, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: serverUrl ?? '/' }],
    tags: [...resources.map(({ name, description }) => ({ name, ...(description !== undefined && { description }) })), ...TAGS],
    // Without a token the caller is anon, which policies may allow.
    security: [{ bearerAuth: [] }, {}],
    paths: Object.assign({}, ...resources.map(resourcePaths), batchPaths(resources), auth, adminPaths, servicePaths),
    components: {
      schemas: Object.assign(
        {},
        ...resources.map((resource) => resourceSchemas(resource, resources)),
        batchSchemas(resources),
        filterSchemas(),
        problemSchemas,
        TRANSFER_SCHEMAS,
        adminSchemas,
      ),
      parameters: PARAMETERS,
      headers: HEADERS,
      responses: problemResponses(),
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The `token` of `POST /auth/login`.' },
      },
    },
  };
}

const DESCRIPTION = [
  'This document shows the resources that its caller may read or list: `anon` without a token.',
  'Resources come from definition files; who may do what with them is decided by policies, and every decision is on the record.',
  'An answer to a decided request names its entry in `X-Decision-Id`. Errors are `application/problem+json`.',
].join('\n\n');

const TAGS = [
  { name: 'Batch requests', description: 'Many requests in one call, each decided and recorded by itself.' },
  { name: 'Signing in', description: 'The first admin, tokens, and who one is.' },
  { name: 'Admin policies', description: 'Policies and their rules.' },
  { name: 'Admin assignments', description: 'Which users and roles policies are assigned to.' },
  { name: 'Admin access tests', description: 'What would be decided, and why. Nothing is recorded or counted.' },
  { name: 'Admin decisions', description: 'The record of decisions, and counts from it.' },
  { name: 'Admin storage', description: 'How tables follow definitions.' },
  { name: 'Service health', description: 'For those who operate the service.' },
];
