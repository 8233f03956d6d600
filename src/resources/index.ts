/**
 * Resources: loading and parsing of definition files, validation of values against a definition, and conversion of stored rows.
 *
 * This folder never uses a database and makes no access decision. It treats unknown and secret fields alike, so that a client cannot learn the
 * names of secret fields.
 * Begin with `resource.ts`. `parse-definition.ts` parses a definition, `resolve-field.ts` resolves field names from clients.
 */
export { isDeletionField, targetName } from './automatic-fields.ts';
export { collectMistakes, type DefinitionMistake, type Mistake, printMistake, type Report, sortMistakes } from './definition-mistake.ts';
export { quote, suggestField, suggestResource, validateFieldName } from './definition-names.ts';
export { findCascadeConflict, findUnknownReferences, validateCascades } from './definition-references.ts';
export { definitionSchema, toSchemaId } from './definition-schema.ts';
export { describeResource, recordSchema, valuesSchema } from './describe-resource.ts';
export { COMMON_OPTIONS, OPTION_FORMS, type OptionForm } from './field-options.ts';
export { kindAt } from './hierarchy.ts';
export { labelFieldOf } from './label-field.ts';
export { type LoadedYamlFiles, loadYamlFiles, placeMistake, type YamlFile } from './load-yaml-files.ts';
export {
  ASSIGNABLE_ROLES,
  type AssignableRole,
  type DefinitionOptions,
  type ParsedDefinition,
  parseDefinition,
} from './parse-definition.ts';
export { type FieldThrough, fieldThrough, followedName } from './reached-fields.ts';
export { type FieldUsage, fieldKind, findField, operatorsOf, resolveField, summarise } from './resolve-field.ts';
export {
  type Definitions,
  ordinaryResources,
  type Resource,
  type ResourceIndex,
  type StoredRecord,
  uniqueKeysOf,
} from './resource.ts';
export { hasIndexInOrder, hasIndexOn, indexesOf } from './resource-indexes.ts';
export {
  type Column,
  columnsOf,
  type FieldAt,
  type FollowedField,
  fieldAt,
  fromRow,
  type Row,
  type RowValue,
  showRecord,
  toRow,
} from './stored-rows.ts';
export { toStoredValue, typeOf, validateFieldValue } from './validate-shape.ts';
export { hasIncrement, type ValidatedValues, type ValidateOptions, validateValues } from './validate-values.ts';
export type { FilePosition } from './yaml-file.ts';
