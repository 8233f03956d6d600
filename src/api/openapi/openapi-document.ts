import type { JsonObject } from '../../operators/index.ts';
import type { EndpointDescription } from '../../request/index.ts';
import type { Resource } from '../../resources/index.ts';
import type { Components } from './document-schemas.ts';
import { PARAMETERS, toEndpointOperation, toOpenApiPath } from './endpoint-operation.ts';
import { HEADERS, problemResponses } from './problem-responses.ts';
import { selectReferenced } from './referenced-components.ts';

/** Input of the document. */
export interface OpenApiParts {
  /** The endpoints to describe, in the order of the document. */
  readonly endpoints: readonly EndpointDescription[];
  /** The resources whose endpoints are among them. */
  readonly resources: readonly Resource[];
}

/** Version of the API. The version of the program is not shown to anonymous callers. */
const API_VERSION = '1';

/** Creates the OpenAPI 3.1 document of these endpoints. */
export function createOpenApi({ endpoints, resources }: OpenApiParts): JsonObject {
  const components: Components = new Map();
  const paths: Record<string, JsonObject> = {};
  for (const endpoint of endpoints) {
    const path = toOpenApiPath(endpoint.path);
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: toEndpointOperation(endpoint, components) };
  }
  const responses = problemResponses(components);
  const schemas = Object.fromEntries(components);
  return {
    openapi: '3.1.1',
    info: { title: 'Bailiwick', version: API_VERSION, description: DESCRIPTION, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    tags: [...resources.map(({ name, description }) => ({ name, ...(description !== undefined && { description }) })), ...TAGS],
    // The token is optional: a caller without a token has the role anon, and policies may allow anon.
    security: [{ bearerAuth: [] }, {}],
    paths,
    components: {
      ...selectReferenced({ schemas, parameters: PARAMETERS, headers: HEADERS, responses }, paths),
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The `token` of `POST /auth/login`.' },
      },
    },
  };
}

const DESCRIPTION = [
  'This document shows the resources that the caller may read or list. Without a token, the caller is `anon`.',
  'Resources are declared in definition files. Policies decide every request, and every decision is written to the audit log.',
  'The header `X-Decision-Id` of a response is the id of its audit entry. Errors are `application/problem+json`.',
].join('\n\n');

/** The groups of endpoints, in the order of the document. The groups of records are named after their resources. */
const TAGS = [
  { name: 'Batch requests', description: 'Several requests in one call. Each is decided and recorded separately.' },
  { name: 'Signing in', description: 'The first admin, tokens, and the current user.' },
  { name: 'Admin policies', description: 'Policies and their rules.' },
  { name: 'Admin assignments', description: 'Which users and roles policies are assigned to.' },
  { name: 'Admin access tests', description: 'Decisions on hypothetical requests, with reasons. They are neither recorded nor counted.' },
  { name: 'Admin sessions', description: 'The open sessions of users.' },
  { name: 'Admin decisions', description: 'The audit log and its analytics.' },
  { name: 'Admin storage', description: 'Migrations of tables to the definitions.' },
  { name: 'Service health', description: 'Health, readiness and this document.' },
];
