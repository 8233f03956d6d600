/**
 * Definition files made into checked resources, and everything that is read against a resource: values, names, filters.
 *
 * It must never reach a database, decide anything, or answer differently for an unknown and a secret field.
 * Begin with `resource.ts`, what a definition says; then `read-definition.ts`, how it is read, and
 * `resolve-field.ts`, the one door for names from outside.
 */
export { isDeletionField } from './automatic-fields.ts';
export { collectMistakes, type DefinitionMistake, type Mistake, printMistake, type Report } from './definition-mistake.ts';
export { quote, validateFieldName } from './definition-names.ts';
export { outlived, validateCascades, validateReferences } from './definition-references.ts';
export { definitionSchema } from './definition-schema.ts';
export { describeResource, recordSchema, valuesSchema } from './describe-resource.ts';
export { COMMON_OPTIONS, OPTION_FORMS, type OptionForm } from './field-options.ts';
export { type LoadedDefinitions, loadDefinitions, placeMistake, type RawDefinition } from './load-definitions.ts';
export {
  ASSIGNABLE_ROLES,
  type AssignableRole,
  type DefinitionOptions,
  type ParsedDefinition,
  parseDefinition,
} from './parse-definition.ts';
export { type FieldUsage, fieldKind, findField, operatorsOf, resolveField, summarise } from './resolve-field.ts';
export { type Definitions, ordinaryResources, type Resource, type ResourceIndex, type StoredRecord } from './resource.ts';
export { type Column, columnsOf, type FieldAt, fieldAt, fromRow, type Row, type RowValue, showRecord, toRow } from './stored-rows.ts';
export { loadChecks, typeOf, validateFieldValue } from './validate-shape.ts';
export { hasIncrement, type ValidatedValues, type ValidateOptions, validateValues } from './validate-values.ts';
