/**
 * The endpoints of records, and their part of the OpenAPI document: one group of operations for each resource.
 *
 * Every request goes through `pipeline/`; no file here reads or writes a record.
 * Begin with `record-endpoints.ts`, then `record-operations.ts`.
 */
export { type ApiDeps, createApiRoutes } from './record-endpoints.ts';
export { filterSchemas } from './record-filters.ts';
export { CURRENT_PASSWORD_MEMBER, withoutSecretFields } from './record-forms.ts';
export { recordEndpoints } from './record-operations.ts';
export { RESOURCE_DESCRIPTION, resourceDescriptionExample } from './resource-description.ts';
