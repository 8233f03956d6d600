import type { Json, JsonObject, Kind, StoredType } from '../operators/index.ts';

/** What a definition says of one field, checked. */
export interface Field {
  readonly name: string;
  /** Name of its field type. */
  readonly type: string;
  readonly description?: string | undefined;
  readonly required: boolean;
  readonly unique: boolean;
  readonly index: boolean;
  /** Set by the service, never by a caller. */
  readonly readOnly: boolean;
  /** Secret: accepted, never shown, not usable in filters, sorts or conditions. */
  readonly writeOnly: boolean;
  /** Set on create, refused in updates. */
  readonly immutable: boolean;
  /** Only an admin may set it to something else than its default (`role`, `isActive` of User). */
  readonly guarded: boolean;
  readonly default?: Json | undefined;
  readonly min?: number | string | undefined;
  readonly max?: number | string | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  /** RE2. */
  readonly pattern?: string | undefined;
  /** Of an enum. */
  readonly values?: readonly string[] | undefined;
  /** Decimal places of a decimal. */
  readonly scale?: number | undefined;
  /** Resource that a reference points to. */
  readonly to?: string | undefined;
  readonly onDelete?: 'restrict' | 'cascade' | 'setNull' | undefined;
  /** The item of a list, itself a field without a name of its own. */
  readonly of?: Field | undefined;
  readonly renamedFrom?: string | undefined;
}

/** Options a definition may give to a field, beyond `type`. */
export type FieldOption = Exclude<keyof Field, 'name' | 'type' | 'guarded'>;

/** What a column holds; each database has its own name for it. */
export type ColumnType = StoredType;

/** What a kind of value is: how it is written, checked, stored, compared and shown. One file each. */
export interface FieldType {
  readonly name: string;
  readonly label: string;
  /** One sentence for the reference. */
  readonly summary: string;
  /** Options it takes beside those every field takes. */
  readonly options: readonly FieldOption[];
  /** How its values compare; undefined where they never do (password). */
  readonly kind: Kind | undefined;
  /** Its numbers are integers. */
  readonly whole?: true;
  readonly column: ColumnType;
  /** Type names it may be widened to without touching a row. */
  readonly widensTo: readonly string[];
  /** How a form shows it. */
  readonly form: 'input' | 'textarea' | 'number' | 'checkbox' | 'date' | 'datetime' | 'select' | 'reference' | 'list' | 'json' | 'password';
  readonly example: Json;
  /** JSON Schema (2020-12) of a value in a request. */
  jsonSchema(field: Field): JsonObject;
  /** What is wrong with the field's own options, in words, each with the option's name. */
  checkOptions?(field: Field): readonly { readonly option: string; readonly detail: string }[];
  /** A value that its JSON Schema accepts → what is wrong with it all the same, in words. */
  checkValue?(value: Json, field: Field): string | undefined;
  /** The one way the service writes an accepted value (a timestamp in UTC with milliseconds). */
  toCanonical?(value: Json, field: Field): Json;
  /** Adds an amount to a stored value; returns undefined if the amount is no value of this type. Absent for types without addition. */
  add?(stored: Json, amount: Json, field: Field): Json | undefined;
  /** Canonical value → what the column holds: string, number, bigint or null. Undefined where the value does not fit the type. */
  toColumn(value: Json, field: Field): string | number | bigint | null | undefined;
  /** What the column holds → JSON. */
  fromColumn(stored: unknown, field: Field): Json;
}
