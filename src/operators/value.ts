/** The values that conditions compare, which are plain JSON, and the three truth values. */

/** A plain JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A plain JSON object. Inherited properties are ignored. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * The result of a comparison. `null` is *unknown*, as NULL in SQL: a value was missing, malformed or of another type.
 * `and`, `or` and `not` follow Kleene's three-valued logic.
 */
export type Truth = boolean | null;

/** The truth value *unknown*. */
export const UNKNOWN = null;

/** A missing value. JSON null is not missing: it is a value for `eq`, `ne`, `in`, `nin` and `isNull`. */
export const MISSING = undefined;

/** The kind of a value, which determines how it is compared. Several field types share a kind: string, enum, email, url, uuid and reference are `text`. */
export type Kind = 'text' | 'number' | 'decimal' | 'boolean' | 'date' | 'timestamp' | 'list' | 'json';

/** Returns an own property of plain data. An inherited property is missing. */
export function ownValue(of: unknown, key: string): Json | undefined {
  return typeof of === 'object' && of !== null && Object.hasOwn(of, key) ? (of as JsonObject)[key] : MISSING;
}

/** Negates a truth value. Unknown stays unknown. */
export function notTruth(truth: Truth): Truth {
  return truth === UNKNOWN ? UNKNOWN : !truth;
}

/** Combines the results for `items` with Kleene's `or`: true if one is true, else unknown if one is unknown, else false. */
export function anyTruth<Item>(items: readonly Item[], evaluate: (item: Item) => Truth): Truth {
  let found: Truth = false;
  for (const item of items) {
    const truth = evaluate(item);
    if (truth === true) return true;
    if (truth === UNKNOWN) found = UNKNOWN;
  }
  return found;
}

/** Combines the results for `items` with Kleene's `and`: false if one is false, else unknown if one is unknown, else true. */
export function allTruth<Item>(items: readonly Item[], evaluate: (item: Item) => Truth): Truth {
  return notTruth(anyTruth(items, (item) => notTruth(evaluate(item))));
}

/** Describes a value for a message. The text is short for values of any size and depth. */
export function describeValue(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** Returns true if a value is a JSON object, not null or a list. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
