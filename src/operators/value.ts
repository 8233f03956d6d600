/**
 * What a condition compares: plain JSON data, and the three answers that a comparison can give.
 */

/** A plain JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A plain JSON object; only its own properties count. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * The answer of a comparison. `null` is *unknown*, as in SQL: something was missing, of another type or broken.
 * Kleene's tables hold for and, or, not.
 */
export type Truth = boolean | null;

export const UNKNOWN = null;

/** What is not there. JSON's null *is* there: it is a value for `eq`, `ne`, `in`, `nin` and `isNull`. */
export const MISSING = undefined;

/**
 * How values are compared. A field type has one kind; several types share one
 * (string, enum, email, url, uuid, reference are all `text`).
 */
export type Kind = 'text' | 'number' | 'decimal' | 'boolean' | 'date' | 'timestamp' | 'list' | 'json';

/** Reads an own property of plain data; anything inherited is missing. */
export function ownValue(of: unknown, key: string): Json | undefined {
  return typeof of === 'object' && of !== null && Object.hasOwn(of, key) ? (of as JsonObject)[key] : MISSING;
}
