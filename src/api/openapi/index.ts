/**
 * The OpenAPI 3.1 document of endpoints: their operations, the components that they refer to, and the responses of problems. The same endpoints give
 * the same document.
 *
 * Begin with `openapi-document.ts`.
 */
export { createOpenApi, type OpenApiParts } from './openapi-document.ts';
