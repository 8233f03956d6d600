/**
 * The field types, one file each. A field type validates and converts its values, and defines their column, kind and form.
 *
 * A field type never depends on resources, requests or a database. It only names the type of its column.
 *
 * Begin with `field-type.ts` (the contract), then `boolean.ts`, the shortest one. To add a type, add a file and a line to
 * `field-type-table.ts`.
 */
export { isAboutCharacters } from './characters.ts';
export type { ColumnType, Field, FieldOption, FieldType } from './field-type.ts';
export { FIELD_TYPES } from './field-type-table.ts';
