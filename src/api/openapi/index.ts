/**
 * The OpenAPI 3.1 document of the service, generated from the definitions in force: every path, field, operator and error.
 *
 * The same definitions and visible resources give the same document. It never names a secret (write-only) field, nor anything else that
 * `GET /api/<resource>/schema` hides from the caller.
 * Begin with `openapi-document.ts`. Each `…-paths.ts` describes one area of the API; `…-schemas.ts` contain the schemas.
 */
export { createOpenApi, type OpenApiParts } from './openapi-document.ts';
