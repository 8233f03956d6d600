/**
 * The state of the service for admins: the catalogue of definitions, operators and limits; the process and its settings; the plan of migrations.
 *
 * Begin with `catalogue-endpoint.ts` and `system-endpoint.ts`.
 */
export { catalogueEndpoints } from './catalogue-endpoint.ts';
export { describeTables, exampleTables, TABLES, toContentETag } from './catalogue-tables.ts';
export { migrationEndpoints } from './migration-endpoints.ts';
export { systemEndpoints } from './system-endpoint.ts';
