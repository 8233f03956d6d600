import type { Json, JsonObject } from '../operators/index.ts';
import type { Field } from './field-type.ts';

/** A type whose values have an order, with `min` and `max` options. */
export interface OrderedType<Value> {
  /** Parses a value or a bound; undefined if it is not of this type. */
  parse(value: Json, field: Field): Value | undefined;
  /** The noun for messages: "a whole number", "a date such as 2026-01-31". */
  readonly expected: string;
}

/** Returns the mistakes in the `min` and `max` of a field. */
export function validateBounds<Value extends number | bigint | string>(
  field: Field,
  type: OrderedType<Value>,
): { option: string; detail: string }[] {
  const mistakes: { option: string; detail: string }[] = [];
  for (const option of ['min', 'max'] as const) {
    const bound = field[option];
    if (bound !== undefined && type.parse(bound, field) === undefined) {
      mistakes.push({ option, detail: `expected ${type.expected}, given ${JSON.stringify(bound)}` });
    }
  }
  const min = parseBound(field.min, field, type);
  const max = parseBound(field.max, field, type);
  if (min !== undefined && max !== undefined && min > max) {
    mistakes.push({ option: 'min', detail: `expected at most max, which is ${field.max}, given ${field.min}` });
  }
  return mistakes;
}

/** Returns true if a value is of the type, but below its minimum or above its maximum. */
export function isOutOfRange<Value extends number | bigint | string>(value: Json, field: Field, type: OrderedType<Value>): boolean {
  return type.parse(value, field) !== undefined && validateWithin(value, field, type) !== undefined;
}

/** Returns a message for a value that is not of the type or is outside the field's bounds. */
export function validateWithin<Value extends number | bigint | string>(
  value: Json,
  field: Field,
  type: OrderedType<Value>,
): string | undefined {
  const read = type.parse(value, field);
  if (read === undefined) return `expected ${type.expected}`;
  const min = parseBound(field.min, field, type);
  if (min !== undefined && read < min) return `expected at least ${field.min}`;
  const max = parseBound(field.max, field, type);
  if (max !== undefined && read > max) return `expected at most ${field.max}`;
  return undefined;
}

/** Returns the JSON Schema keywords `minimum` and `maximum` of a field with numeric bounds. */
export function boundsSchema(field: Field): JsonObject {
  return {
    ...(typeof field.min === 'number' && { minimum: field.min }),
    ...(typeof field.max === 'number' && { maximum: field.max }),
  };
}

function parseBound<Value>(bound: number | string | undefined, field: Field, type: OrderedType<Value>): Value | undefined {
  return bound === undefined ? undefined : type.parse(bound, field);
}
