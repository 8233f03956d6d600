import type { Json, JsonObject, Kind, StoredType } from '../operators/index.ts';

/** A validated field of a definition. */
export interface Field {
  readonly name: string;
  /** The name of the field type. */
  readonly type: string;
  readonly description?: string | undefined;
  readonly required: boolean;
  readonly unique: boolean;
  readonly index: boolean;
  /** True if only the service sets the field. */
  readonly readOnly: boolean;
  /** True if requests may set the field and responses never contain it. Such a field is not allowed in filters, sort keys and conditions. */
  readonly writeOnly: boolean;
  /** True if the field is accepted on create and rejected in updates. */
  readonly immutable: boolean;
  /** True if only an admin may set a value other than the default (`role` and `isActive` of User). */
  readonly guarded: boolean;
  readonly default?: Json | undefined;
  readonly min?: number | string | undefined;
  readonly max?: number | string | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  /** A regular expression in RE2 syntax. */
  readonly pattern?: string | undefined;
  /** The values of an enum. */
  readonly values?: readonly string[] | undefined;
  /** The digits of a decimal after the point. */
  readonly scale?: number | undefined;
  /** The resource that a reference points to. */
  readonly to?: string | undefined;
  readonly onDelete?: 'restrict' | 'cascade' | 'setNull' | undefined;
  /** True if the reference leads to the parent of the record, in a hierarchy of the records of its resource. */
  readonly hierarchy?: boolean | undefined;
  /** The field of a list's items. It has no name of its own. */
  readonly of?: Field | undefined;
  readonly renamedFrom?: string | undefined;
}

/** The options of a field in a definition, except `type`. */
export type FieldOption = Exclude<keyof Field, 'name' | 'type' | 'guarded'>;

/** The type of a column; each database has its own name for it. */
export type ColumnType = StoredType;

/** A field type. */
export interface FieldType {
  readonly name: string;
  readonly label: string;
  /** One sentence for the reference. */
  readonly summary: string;
  /** The options of this type, in addition to those of every field. */
  readonly options: readonly FieldOption[];
  /** The kind of the values; undefined if values cannot be compared (password). */
  readonly kind: Kind | undefined;
  /** True if the values are integers. */
  readonly whole?: true;
  readonly column: ColumnType;
  /** The types that a column can be changed to without rewriting rows. */
  readonly widensTo: readonly string[];
  /** The control in a form. */
  readonly form: 'input' | 'textarea' | 'number' | 'checkbox' | 'date' | 'datetime' | 'select' | 'reference' | 'list' | 'json' | 'password';
  readonly example: Json;
  /** Returns the JSON Schema (2020-12) of a value in a request. */
  jsonSchema(field: Field): JsonObject;
  /** Returns the JSON Schema of a value in a response, if it differs. */
  responseSchema?(field: Field): JsonObject;
  /** Returns the mistakes in the options of a field. */
  validateOptions?(field: Field): readonly { readonly option: string; readonly detail: string }[];
  /** Returns a message for an invalid value that the JSON Schema accepts. */
  validateValue?(value: Json, field: Field): string | undefined;
  /** Returns true if an invalid value is of the type, but below its minimum or above its maximum. */
  isOutOfRange?(value: Json, field: Field): boolean;
  /** Converts a valid value to its canonical form, such as a timestamp to UTC with milliseconds. */
  toCanonical?(value: Json, field: Field): Json;
  /** Adds an amount to a stored value; returns undefined if the amount is no value of this type. Absent for types without addition. */
  add?(stored: Json, amount: Json, field: Field): Json | undefined;
  /** Converts a canonical value to its stored form; undefined if the value is not of the type. */
  toColumn(value: Json, field: Field): string | number | bigint | null | undefined;
  /** Converts a stored value to JSON. */
  fromColumn(stored: unknown, field: Field): Json;
}
