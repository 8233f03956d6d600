/** Examples of the records of a resource, made from its definition: the same definition gives the same examples. */
import type { Field } from '../../fields/index.ts';
import { type Json, type JsonObject, matchesPattern } from '../../operators/index.ts';
import { fieldKind, isDeletionField, type Resource, typeOf } from '../../resources/index.ts';

/** The examples of a resource. */
export interface RecordExamples {
  /** An id. */
  readonly id: string;
  /** A record in a response. */
  readonly record: JsonObject;
  /** The values of a new record; absent if no example fits a required field. */
  readonly create?: JsonObject;
  /** The changed values of a record. */
  readonly update: JsonObject;
  /** A filter that matches one record, if the resource has a unique field. */
  readonly filter: JsonObject;
  /** A filter that matches several records. */
  readonly where: JsonObject;
}

/** Creates the examples of a resource. Its secret fields must have been removed. */
export function createExamples(resource: Resource): RecordExamples {
  const fields = [...resource.fields.values()];
  const values = new Map(fields.map((field) => [field, exampleOf(field)]));
  const pick = (chosen: readonly (Field | undefined)[]): JsonObject =>
    Object.fromEntries(chosen.flatMap((field) => (field === undefined ? [] : [[field.name, values.get(field) ?? null]])));
  const writable = fields.filter((field) => !field.readOnly && values.get(field) !== undefined);
  const isComplete = fields.every((field) => field.readOnly || !field.required || values.get(field) !== undefined);
  const record = Object.fromEntries(
    fields.map((field) => [field.name, isDeletionField(resource, field.name) ? null : (values.get(field) ?? null)]),
  );
  const id = String(record['id']);
  const unique = writable.find((field) => field.unique && isComparable(field));
  const choice = writable.find(({ values: listed }) => listed !== undefined);
  const changed =
    writable.find((field) => field.values !== undefined && !field.immutable && !field.guarded) ??
    writable.find((field) => !field.immutable && !field.unique);
  return {
    id,
    record,
    ...(isComplete && { create: pick(writable.filter(({ guarded }) => !guarded)) }),
    update: changed === undefined ? {} : { [changed.name]: changed.values?.at(-1) ?? values.get(changed) ?? null },
    filter: unique === undefined ? { id } : pick([unique]),
    where: choice === undefined ? { createdAt: { withinLast: '7d' } } : pick([choice]),
  };
}

function isComparable(field: Field): boolean {
  return fieldKind(field) !== undefined && field.of === undefined;
}

/** Examples by field name, for names that any definition may use. */
const NAMED: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['name', 'Ada Lovelace'],
  ['version', 1],
  ['createdBy', '018f4e6a-1c2b-7d3e-8f40-5a6b7c8d9e0f'],
]);

/** Values that fit common patterns and limits. */
const VALUES: readonly Json[] = [
  1,
  0,
  'harbour-reopens',
  'harbour',
  'HARBOUR',
  'H1',
  'h1',
  'A',
  'a',
  '1',
  '12345',
  '+32 2 555 01 00',
  '2026-01',
  '',
];

const LONG_TEXT = 'The harbour reopened on Monday after three weeks of repairs. ';

/** Returns a value that fits a field; undefined if no candidate does, as for an unusual pattern. */
function exampleOf(field: Field): Json | undefined {
  const type = typeOf(field);
  const value = [...candidatesOf(field)].find((candidate) => fits(field, candidate));
  return value === undefined ? undefined : (type.toCanonical?.(value, field) ?? value);
}

function* candidatesOf(field: Field): Generator<Json, undefined> {
  const { of, name, values = [], minLength = 0, maxLength } = field;
  yield* [field.default, NAMED.get(name), ...values, typeOf(field).example, field.min, field.max].filter((value) => value !== undefined);
  const item = of && exampleOf(of);
  if (item !== undefined) yield Array.from({ length: Math.max(1, minLength) }, () => item);
  if (of !== undefined) yield [];
  yield* VALUES;
  yield LONG_TEXT.repeat(Math.ceil(minLength / LONG_TEXT.length)).slice(0, maxLength);
}

/** Returns true if a value fits the type and the limits of a field. */
function fits(field: Field, value: Json): boolean {
  const type = typeOf(field);
  const { of } = field;
  if (of !== undefined && !(Array.isArray(value) && value.every((item: Json) => fits(of, item)))) return false;
  return isWithin(type.jsonSchema(field), value) && type.validateValue?.(value, field) === undefined;
}

/** Returns true if a value has the type of a schema and is within its limits. The schemas of field types have no other keywords. */
function isWithin(schema: JsonObject, value: Json): boolean {
  const { type, enum: listed, pattern } = schema;
  const types = [type].flat();
  if (type !== undefined && !types.some((each) => isOfType(value, each))) return false;
  if (Array.isArray(listed) && !listed.includes(value)) return false;
  if (typeof pattern === 'string' && matchesPattern(String(value), pattern) !== true) return false;
  const size = typeof value === 'string' || Array.isArray(value) ? value.length : Number(value);
  const [least, most] = LIMITS.get(Array.isArray(value) ? 'array' : typeof value) ?? ['', ''];
  return !(size < Number(schema[least] ?? size) || size > Number(schema[most] ?? size));
}

const LIMITS: ReadonlyMap<string, readonly [least: string, most: string]> = new Map([
  ['string', ['minLength', 'maxLength']],
  ['array', ['minItems', 'maxItems']],
  ['number', ['minimum', 'maximum']],
]);

function isOfType(value: Json, type: Json | undefined): boolean {
  if (type === 'integer') return Number.isInteger(value);
  return type === (Array.isArray(value) ? 'array' : typeof value);
}
