/**
 * Definition files made into checked resources, and everything that is read against a resource: values, names, filters.
 *
 * It must never reach a database, decide anything, or answer differently for an unknown and a secret field.
 * Begin with `resource.ts`, what a definition says; then `read-definition.ts`, how it is read, and
 * `resolve-field.ts`, the one door for names from outside.
 */

export { loadChecks } from './ajv.ts';
export { isDeletionField } from './automatic.ts';
export { checkFieldValue, typeOf } from './check-shape.ts';
export { type CheckedValues, type CheckOptions, checkValues } from './check-values.ts';
export { definitionSchema } from './definition-schema.ts';
export { describeResource, recordSchema, valuesSchema } from './describe.ts';
export { type FieldAt, fieldAt } from './field-at.ts';
export { COMMON_OPTIONS, OPTION_FORMS, type OptionForm } from './field-options.ts';
export { type FilterItem, filterKey, readFilter } from './filter.ts';
export { hasIncrement } from './increment.ts';
export { type LoadedDefinitions, loadDefinitions, placeMistake, type RawDefinition } from './load-definitions.ts';
export { collectMistakes, type DefinitionMistake, type Mistake, printMistake, type Report } from './mistake.ts';
export { type DefinitionOptions, type ReadDefinition, readDefinition } from './read-definition.ts';
export type { Expansion } from './read-expand.ts';
export { readShown, type Shown } from './read-shown.ts';
export { checkCascades, checkReferences, outlived } from './references.ts';
export { type FieldUsage, fieldKind, resolveField } from './resolve-field.ts';
export { type Definitions, ordinaryResources, type Resource, type ResourceIndex, type StoredRecord } from './resource.ts';
export { ASSIGNABLE_ROLES, type AssignableRole } from './roles.ts';
export { type Column, columnsOf, fromRow, type Row, type RowValue, showRecord, toRow } from './rows.ts';
export { type ResolvedSortKey, readSort, type SortKey } from './sort.ts';
