import type { Field } from '../fields/index.ts';
import { memoize } from '../memoize.ts';
import { columnsOf, type Resource, type StoredRecord, typeOf } from '../resources/index.ts';
import { charactersOf } from './answer-size.ts';

/** Sizes of the rows of a resource, from its definition. */
export interface RowSize {
  /** Maximum characters of a row. */
  readonly most: number;
  /** Bytes of the field names in a response, with null for each field. */
  readonly fieldBytes: number;
  /** Names of the fields whose values can be so long that comparing one may take milliseconds. */
  readonly longFields: ReadonlySet<string>;
}

/** Maximum characters of a value of a type without `maxLength`, such as a timestamp. */
const SHORT = 400;
/** Maximum characters of a value of the type json. */
const JSON_LENGTH = 100_000;
/** Maximum characters of any value: a request body is not larger by default. */
const BODY_LENGTH = 1_000_000;
/** Characters of a value from which comparing it may take milliseconds. */
const LONG = 10_000;
/** Bytes of the quotes, the colon, null and the comma around the name of a field. */
const NULL_BYTES = 8;

/** Maximum characters of the rows of a statement. It limits the memory that they take, and the time that they occupy the event loop. */
const MAX_LENGTH = 1_000_000;
/** Maximum characters that the rows of a first statement may have by their definition. More than MAX_LENGTH, because most rows are much shorter. */
const MAX_PERMITTED_LENGTH = 6_000_000;

/** Rows that the first statement may load, however long the definition permits them to be. */
const FIRST_ROWS = 24;
/** The part of its permitted length that a row is assumed to have. */
const USUAL_LENGTH = 1 / 16;

/** The average characters of the rows that the last statement of a long list has loaded, by resource. */
const lastLengths = new WeakMap<Resource, number>();

/**
 * Returns the number of rows that the first statement may load: by the length of the rows that the last long list of the resource has loaded,
 * or by the definition. If few bytes are left in the answer, most rows would be loaded in vain.
 */
export function rowsPerStatement(resource: Resource, bytesLeft = Number.POSITIVE_INFINITY): number {
  const { most } = rowSizeOf(resource);
  const permitted = Math.max(FIRST_ROWS, Math.floor(MAX_PERMITTED_LENGTH / most));
  const usual = Math.floor(MAX_LENGTH / (lastLengths.get(resource) ?? 1));
  return Math.max(1, Math.min(permitted, usual, Math.floor(bytesLeft / (most * USUAL_LENGTH))));
}

/** Returns the number of rows for the next statement, after one that has loaded `rows`: at most four times as many, because later rows can be longer. */
export function nextRowsPerStatement(resource: Resource, rows: readonly StoredRecord[]): number {
  const length = rows.reduce((sum, row) => sum + charactersOf(row), 1) / rows.length;
  lastLengths.set(resource, length);
  return Math.max(1, Math.min(4 * rows.length, Math.floor(MAX_LENGTH / length)));
}

const sizes = new WeakMap<Resource, RowSize>();

/** Returns the sizes of the rows of a resource. */
export function rowSizeOf(resource: Resource): RowSize {
  return memoize(sizes, resource, toRowSize);
}

function toRowSize(resource: Resource): RowSize {
  const fields = columnsOf(resource).map(({ field }) => field);
  const readable = fields.filter(({ writeOnly }) => !writeOnly);
  return {
    most: readable.reduce((sum, field) => sum + lengthOf(field), 0),
    fieldBytes: readable.reduce((sum, { name }) => sum + name.length + NULL_BYTES, 0),
    longFields: new Set(readable.filter((field) => lengthOf(field) > LONG).map(({ name }) => name)),
  };
}

function lengthOf(field: Field): number {
  const { maxLength, maxItems } = typeOf(field).jsonSchema(field);
  if (field.of !== undefined) return Math.min(BODY_LENGTH, Number(maxItems) * lengthOf(field.of));
  if (field.type === 'json') return JSON_LENGTH;
  return typeof maxLength === 'number' ? maxLength : SHORT;
}
