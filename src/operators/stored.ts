import { canonicalAs } from './kinds.ts';
import type { SqlSubject } from './operator.ts';
import type { Json, Kind } from './value.ts';

/**
 * An operand as a column holds it. Three things must not be confused: a value that does not fit the kind (unknown),
 * one that fits and that no column holds (a decimal with more places than the column's, a text with NUL: equal to nothing, yet
 * it has its place in the order), and one that can be bound.
 */
export type StoredOperand = { readonly fits: false } | { readonly fits: true; readonly bound?: unknown };

/** `value`, read as `kind`, in the form that `subject` stores. */
export function toStored(subject: SqlSubject, kind: Kind, value: Json): StoredOperand {
  const canonical = canonicalAs(kind, value);
  if (canonical === undefined) return { fits: false };
  // A text or number is bound as it is: the field's own rules (an enum's values, an integer) must not make "not equal" of it unknown.
  if (kind === 'text' || kind === 'number') return isKept(canonical) ? { fits: true, bound: canonical } : { fits: true };
  const bound = subject.encode(canonical);
  return bound === undefined ? { fits: true } : { fits: true, bound };
}

/** No column holds NUL, and not every database can be told of it. */
function isKept(value: Json): boolean {
  return typeof value !== 'string' || !value.includes('\0');
}

/** Scaled by ten to its places, one tells two scales apart; at the greatest it no longer fits, and is undefined. */
const ONE = '1';

/** Whether the stored forms of two columns compare as their values do: those of one kind, and decimals of one scale. */
export function isStoredAlike(left: SqlSubject, right: SqlSubject): boolean {
  if (left.kind !== right.kind || left.kind === 'json' || left.kind === 'list') return false;
  return left.kind !== 'decimal' || left.encode(ONE) === right.encode(ONE);
}
