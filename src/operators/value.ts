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

/** The third answer. */
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

/** Kleene's not: unknown stays unknown. */
export function notTruth(truth: Truth): Truth {
  return truth === UNKNOWN ? UNKNOWN : !truth;
}

/** Kleene's or over `items`: true where one is true, else unknown where one is unknown, else false. */
export function anyTruth<Item>(items: readonly Item[], answer: (item: Item) => Truth): Truth {
  let found: Truth = false;
  for (const item of items) {
    const truth = answer(item);
    if (truth === true) return true;
    if (truth === UNKNOWN) found = UNKNOWN;
  }
  return found;
}

/** Kleene's and over `items`: false where one is false, else unknown where one is unknown, else true. */
export function allTruth<Item>(items: readonly Item[], answer: (item: Item) => Truth): Truth {
  return notTruth(anyTruth(items, (item) => notTruth(answer(item))));
}

/** A value in a message: short, and safe for values of any depth. */
export function describeValue(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** Whether a value is a JSON object: neither null nor a list. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
