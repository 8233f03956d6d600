import type { FieldOption } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';

/** What a definition may write for one option of a field. */
export interface OptionForm {
  readonly expected: string;
  readonly summary: string;
  readonly schema: JsonObject;
  fits(value: Json): boolean;
}

/** `guarded` is for our own definitions alone. */
export type WrittenOption = FieldOption | 'guarded';

const MOST_COUNT = 1_000_000;
const LONGEST_DESCRIPTION = 2000;

function flag(summary: string): OptionForm {
  return { expected: 'true or false', summary, schema: { type: 'boolean' }, fits: (value) => typeof value === 'boolean' };
}

function count(summary: string): OptionForm {
  return {
    expected: `a whole number from 0 to ${MOST_COUNT}`,
    summary,
    schema: { type: 'integer', minimum: 0, maximum: MOST_COUNT },
    fits: (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_COUNT,
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

/** Every option of a field: what may be written for it. Which types take it is said by the types. */
export const OPTION_FORMS: Readonly<Record<WrittenOption, OptionForm>> = Object.freeze({
  description: words('What the field is for.', LONGEST_DESCRIPTION),
  required: flag('Whether every record must have a value.'),
  unique: flag('Whether no two records may have the same value.'),
  index: flag('Whether filters and sorts on the field are made fast.'),
  readOnly: flag('Whether only the service sets it.'),
  writeOnly: flag('Whether it is secret: accepted, never shown, in no filter, sort or condition.'),
  immutable: flag('Whether it is set on create and never changed.'),
  guarded: flag('Whether only an admin may set it to something else than its default.'),
  default: {
    expected: 'a value of the field',
    summary: 'The value of a new record that is given none.',
    schema: {},
    fits: (value) => value !== null,
  },
  min: bound('The least value.'),
  max: bound('The greatest value.'),
  minLength: count('The least number of characters, or of items of a list.'),
  maxLength: count('The greatest number of characters, or of items of a list.'),
  pattern: words('An RE2 pattern found somewhere in the text; `^` and `$` bind it to the ends.', 1000),
  values: {
    expected: 'a list of texts (quote what YAML would read as a number or a boolean)',
    summary: 'The values of an enum.',
    schema: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, uniqueItems: true },
    fits: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  },
  scale: count('Decimal places.'),
  to: words('The resource that a reference points to.', 63),
  onDelete: {
    expected: 'restrict, cascade or setNull',
    summary: 'What happens to the record when the one it refers to is deleted.',
    schema: { enum: ['restrict', 'cascade', 'setNull'] },
    fits: (value) => value === 'restrict' || value === 'cascade' || value === 'setNull',
  },
  of: {
    expected: 'the name of a type, or a field',
    summary: 'The type of the items of a list.',
    schema: {},
    fits: (value) => typeof value === 'string' || (typeof value === 'object' && value !== null && !Array.isArray(value)),
  },
  renamedFrom: words('The name the field had before: its values are kept.', 63),
});

/** Options that a field of any type takes. */
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
