/**
 * What values can be: one file for each field type, one line for each in `table.ts`.
 *
 * A field type knows how its values are written, checked, stored, compared and shown; nothing else does.
 * It must never know of resources, requests or databases beyond the column's own type.
 * Begin with `field.ts`, the contract, and `boolean.ts`, the shortest of them.
 */
export type { ColumnType, Field, FieldOption, FieldType } from './field-type.ts';
export { FIELD_TYPES } from './field-type-table.ts';
