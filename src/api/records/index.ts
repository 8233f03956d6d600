/**
 * The endpoints of records, and their part of the OpenAPI document: one group of operations for each resource.
 *
 * Every request goes through `pipeline/`; no file here reads or writes a record.
 * Begin with `record-routes.ts`, then `record-endpoints.ts`.
 */

export { recordEndpoints } from './record-endpoints.ts';
export { filterSchemas } from './record-filters.ts';
export { CURRENT_PASSWORD_MEMBER, withoutSecretFields } from './record-forms.ts';
export { type ApiDeps, createApiRoutes } from './record-routes.ts';
export { RESOURCE_DESCRIPTION, resourceDescriptionExample } from './resource-description.ts';
