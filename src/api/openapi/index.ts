/**
 * The OpenAPI 3.1 description of the service, made from the definitions in force: every address, field, operator and error.
 *
 * Pure: the same definitions and visible resources give the same document. It must never name a secret (write-only) field, nor anything else that
 * `GET /api/<resource>/schema` would not tell; it decides nothing and checks nothing.
 * Begin with `document.ts`; each `…-paths.ts` is one area of addresses, each `…-schemas.ts` what they carry.
 */
export { createOpenApi, type OpenApiParts } from './openapi-document.ts';
