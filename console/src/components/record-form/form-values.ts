/** The values of a record in a form: texts and booleans, and the way from and to the values of the API. */
import type { Schemas } from '../../api/client.ts';
import type { Row } from '../../api/records.ts';
import { dataTexts } from '../../texts/data.ts';
import { parseJson } from '../strict-json.ts';

/** The description of a field. */
export type Field = Schemas['api.FieldDescription'];

/** A value in a form. Texts are as typed; null is no value. */
export type FormValue = string | boolean | readonly string[] | null;

/** Values in a form, by field. */
export type FormValues = Readonly<Record<string, FormValue>>;

/** Returns the fields that a form may set: on create all but those of the service, on update also without those that never change. */
export function editableFields(fields: readonly Field[], isNew: boolean): readonly Field[] {
  return fields.filter(({ readOnly, immutable }) => !readOnly && (isNew || !immutable));
}

/** Returns true if the items of a list are edited one by one; other lists are edited as JSON. */
export function isListOfTexts({ type, of }: Field): boolean {
  return type === 'list' && of !== undefined && ['string', 'text', 'enum', 'email', 'url', 'uuid'].includes(of.type);
}

/** Returns true for a field whose value no user may read. */
export function isSecret({ type, writeOnly }: Pick<Field, 'type' | 'writeOnly'>): boolean {
  return writeOnly || type === 'password';
}

/** Returns the value of a field after an input. An emptied secret field has no value, as before the input: the secret stays as it is. */
export function toTypedValue(field: Field, given: FormValue): FormValue {
  return isSecret(field) && given === '' ? null : given;
}

/** Returns the value of a field in a form. */
export function toFormValue(field: Field, value: unknown): FormValue {
  if (value === undefined || value === null) return null;
  if (field.type === 'boolean') return value === true;
  if (isListOfTexts(field) && Array.isArray(value)) return value.map(String);
  if (field.type === 'json' || field.type === 'list') return JSON.stringify(value, undefined, 2);
  return String(value);
}

/** Returns the values of a record in a form; without a record, the values of a new one. */
export function toFormValues(fields: readonly Field[], row: Row | undefined): FormValues {
  const begin = (field: Field) =>
    row === undefined ? toFormValue(field, field.default ?? emptyValue(field)) : toFormValue(field, row[field.name]);
  return Object.fromEntries(fields.map((field) => [field.name, begin(field)]));
}

/** Returns the value with which a field begins that has no default: a switch can show only true and false. */
export function emptyValue(field: Field): FormValue {
  return isSwitch(field) ? false : null;
}

/** Returns true for a field that is edited with a switch; a boolean that may have no value is a choice. */
export function isSwitch({ type, required }: Field): boolean {
  return type === 'boolean' && required;
}

/** The value to send, or the reason why the typed text is none. */
export type Parsed = { readonly value: unknown } | { readonly mistake: string };

/** Returns the value to send for a value of a form. Bounds are checked by the service, which knows them all. */
export function parseFormValue(field: Field, given: FormValue): Parsed {
  if (given === null || given === '') return { value: null };
  if (typeof given !== 'string') return { value: given };
  if (field.type === 'integer' || field.type === 'number') {
    const number = Number(given);
    return Number.isFinite(number) && given.trim() !== '' ? { value: number } : { mistake: dataTexts.record.number };
  }
  if (field.type === 'json' || field.type === 'list') {
    try {
      return { value: parseJson(given) };
    } catch {
      return { mistake: dataTexts.record.json };
    }
  }
  return { value: given };
}

/** The values to send, and the mistakes by field. */
export interface ParsedForm {
  readonly values: Readonly<Record<string, unknown>>;
  readonly mistakes: Readonly<Record<string, string>>;
}

/** Returns the values that differ from those that were loaded. Untouched fields are not sent, so that a change of another user stays. */
export function changedValues(fields: readonly Field[], before: FormValues, now: FormValues): ParsedForm {
  const values: Record<string, unknown> = {};
  const mistakes: Record<string, string> = {};
  for (const field of fields) {
    const { name } = field;
    if (JSON.stringify(now[name] ?? null) === JSON.stringify(before[name] ?? null)) continue;
    const parsed = parseFormValue(field, now[name] ?? null);
    if ('mistake' in parsed) mistakes[name] = parsed.mistake;
    else values[name] = parsed.value;
  }
  return { values, mistakes };
}

/** Returns the values of a new record: those that a form shows, and null in place of default values that were cleared. */
export function createdValues(fields: readonly Field[], defaults: FormValues, now: FormValues): ParsedForm {
  const { values, mistakes } = changedValues(fields, {}, now);
  const cleared = fields.filter(({ name }) => (now[name] ?? null) === null && (defaults[name] ?? null) !== null);
  return { values: { ...values, ...Object.fromEntries(cleared.map(({ name }) => [name, null])) }, mistakes };
}
