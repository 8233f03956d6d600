/**
 * Validation of JSON values against JSON Schemas, and the mistakes that it reports.
 *
 * Endpoints validate requests with `validateSchema`; `resources/` validates records with `createAjv`. Both convert errors with `toIssues`, so
 * equal mistakes have equal codes. This folder knows neither endpoints nor resources.
 * Begin with `validate-schema.ts`.
 */
export { type Ajv, createAjv, type ValidateFunction } from './ajv.ts';
export { toIssues } from './schema-issues.ts';
export { DESCRIBED_ONLY, prepareValidators, validateSchema } from './validate-schema.ts';
