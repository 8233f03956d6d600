import type { Json, JsonObject } from '../operators/index.ts';

/** Whether a value is a plain object, not a list and not null. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
