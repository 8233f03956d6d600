import type { Json, JsonObject } from '../operators/index.ts';
import type { Field } from './field-type.ts';

/** How the values of a type are ordered, for its `min` and `max`. */
export interface OrderedType<Value> {
  /** Reads a value or a bound; undefined where it is none of this type. */
  read(value: Json, field: Field): Value | undefined;
  /** "a whole number", "a date such as 2026-01-31" */
  readonly expected: string;
}

/** What is wrong with a field's `min` and `max`. */
export function validateBounds<Value extends number | bigint | string>(
  field: Field,
  type: OrderedType<Value>,
): { option: string; detail: string }[] {
  const mistakes: { option: string; detail: string }[] = [];
  for (const option of ['min', 'max'] as const) {
    const bound = field[option];
    if (bound !== undefined && type.read(bound, field) === undefined) {
      mistakes.push({ option, detail: `expected ${type.expected}, given ${JSON.stringify(bound)}` });
    }
  }
  const min = readBound(field.min, field, type);
  const max = readBound(field.max, field, type);
  if (min !== undefined && max !== undefined && min > max) {
    mistakes.push({ option: 'min', detail: `expected at most max, which is ${field.max}, given ${field.min}` });
  }
  return mistakes;
}

/** What is wrong with a value of an ordered type: it is none, or lies outside the field's bounds. */
export function validateWithin<Value extends number | bigint | string>(
  value: Json,
  field: Field,
  type: OrderedType<Value>,
): string | undefined {
  const read = type.read(value, field);
  if (read === undefined) return `expected ${type.expected}`;
  const min = readBound(field.min, field, type);
  if (min !== undefined && read < min) return `expected at least ${field.min}`;
  const max = readBound(field.max, field, type);
  if (max !== undefined && read > max) return `expected at most ${field.max}`;
  return undefined;
}

/** `minimum` and `maximum` of a field whose bounds are numbers. */
export function boundsSchema(field: Field): JsonObject {
  return {
    ...(typeof field.min === 'number' && { minimum: field.min }),
    ...(typeof field.max === 'number' && { maximum: field.max }),
  };
}

function readBound<Value>(bound: number | string | undefined, field: Field, type: OrderedType<Value>): Value | undefined {
  return bound === undefined ? undefined : type.read(bound, field);
}
