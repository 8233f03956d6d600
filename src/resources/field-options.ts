import type { FieldOption } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';

/** The permitted values of a field option, with their description and JSON Schema. */
export interface OptionForm {
  readonly expected: string;
  readonly summary: string;
  readonly schema: JsonObject;
  fits(value: Json): boolean;
}

/** The name of an option. `guarded` is allowed only in system definitions. */
export type WrittenOption = FieldOption | 'guarded';

const MAX_COUNT = 1_000_000;
const MAX_DESCRIPTION = 2000;

function flag(summary: string): OptionForm {
  return { expected: 'true or false', summary, schema: { type: 'boolean' }, fits: (value) => typeof value === 'boolean' };
}

function count(summary: string): OptionForm {
  return {
    expected: `a whole number from 0 to ${MAX_COUNT}`,
    summary,
    schema: { type: 'integer', minimum: 0, maximum: MAX_COUNT },
    fits: (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_COUNT,
  };
}

function bound(summary: string): OptionForm {
  return {
    expected: 'a number or a text',
    summary,
    schema: { type: ['number', 'string'] },
    fits: (value) => typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value)),
  };
}

function words(summary: string, longest: number): OptionForm {
  return {
    expected: `a text of at most ${longest} characters`,
    summary,
    schema: { type: 'string', maxLength: longest },
    fits: (value) => typeof value === 'string' && value.length <= longest,
  };
}

/** The form of every option. Each field type lists the options that it takes. */
export const OPTION_FORMS: Readonly<Record<WrittenOption, OptionForm>> = Object.freeze({
  description: words('Purpose of the field.', MAX_DESCRIPTION),
  required: flag('True if every record must have a value.'),
  unique: flag('True if no two records can have the same value.'),
  index: flag('True if the field is indexed for filters and sorts.'),
  readOnly: flag('True if only the service sets the field.'),
  writeOnly: flag('True if the field is secret: accepted, but never returned, and not available to filters, sorts and conditions.'),
  immutable: flag('True if the value is set on create and cannot be changed.'),
  guarded: flag('True if only an admin can set another value than the default.'),
  default: {
    expected: 'a value of the field',
    summary: 'Value of a new record if none is given.',
    schema: {},
    fits: (value) => value !== null,
  },
  min: bound('Minimum value.'),
  max: bound('Maximum value.'),
  minLength: count('Minimum number of characters, or of items of a list.'),
  maxLength: count('Maximum number of characters, or of items of a list.'),
  pattern: words('RE2 pattern that must match a part of the text; use `^` and `$` to match all of it.', 1000),
  values: {
    expected: 'a list of texts (quote what YAML would read as a number or a boolean)',
    summary: 'Values of an enum.',
    schema: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, uniqueItems: true },
    fits: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  },
  scale: count('Decimal places.'),
  to: words('Referenced resource.', 63),
  onDelete: {
    expected: 'restrict, cascade or setNull',
    summary: 'Effect on the record if the referenced record is deleted.',
    schema: { enum: ['restrict', 'cascade', 'setNull'] },
    fits: (value) => value === 'restrict' || value === 'cascade' || value === 'setNull',
  },
  hierarchy: flag('True if the field refers to the parent of the record, a record of the same resource. Conditions then use `within`.'),
  of: {
    expected: 'the name of a type, or a field',
    summary: 'Type of the items of a list.',
    schema: {},
    fits: (value) => typeof value === 'string' || (typeof value === 'object' && value !== null && !Array.isArray(value)),
  },
  renamedFrom: words('Previous name of the field; its values are kept.', 63),
});

/** The options that every field type takes. */
export const COMMON_OPTIONS: readonly FieldOption[] = [
  'description',
  'required',
  'unique',
  'index',
  'readOnly',
  'writeOnly',
  'immutable',
  'default',
  'renamedFrom',
];
