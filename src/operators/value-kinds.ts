import { compareDecimals, parseDecimal, toDecimalText } from './decimals.ts';
import { parseDate, parseInstant, toInstantText } from './instants.ts';
import type { SqlSubject } from './operator.ts';
import type { Json, Kind } from './value.ts';

/** How values of one kind are read, ordered and written. */
interface KindRules<Value> {
  /** With an article, for messages. */
  readonly noun: string;
  /** Undefined where the value does not fit: kinds are never coerced. */
  read(value: Json): Value | undefined;
  compare(left: Value, right: Value): number;
  /** The one way the value is written. */
  write(value: Value): Json;
}

/** One kind, with the type of its values closed over. */
interface ScalarKind {
  readonly noun: string;
  fits(value: Json): boolean;
  compare(left: Json, right: Json): number | undefined;
  canonical(value: Json): Json | undefined;
}

const SCALAR_KINDS: ReadonlyMap<Kind, ScalarKind> = new Map<Kind, ScalarKind>([
  [
    'text',
    scalarKind<string>({
      noun: 'a text',
      // A lone surrogate cannot be written as UTF-8: the database would hold U+FFFD for it.
      read: (value) => (typeof value === 'string' ? value.toWellFormed() : undefined),
      compare: compareTexts,
      write: (text) => text,
    }),
  ],
  [
    'number',
    scalarKind<number>({
      noun: 'a number',
      read: (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined),
      compare: compareNumbers,
      write: (number) => number,
    }),
  ],
  [
    'boolean',
    scalarKind<boolean>({
      noun: 'true or false',
      read: (value) => (typeof value === 'boolean' ? value : undefined),
      compare: (left, right) => Number(left) - Number(right),
      write: (boolean) => boolean,
    }),
  ],
  [
    'decimal',
    scalarKind({
      noun: 'a decimal such as "12.30"',
      read: parseDecimal,
      compare: compareDecimals,
      write: toDecimalText,
    }),
  ],
  [
    'date',
    scalarKind<string>({
      noun: 'a date such as "2026-01-31"',
      read: (value) => (typeof value === 'string' && parseDate(value) !== undefined ? value : undefined),
      compare: compareTexts,
      write: (date) => date,
    }),
  ],
  [
    'timestamp',
    scalarKind<number>({
      noun: 'an instant such as "2026-01-31T09:00:00Z"',
      read: (value) => (typeof value === 'string' ? parseInstant(value) : undefined),
      compare: compareNumbers,
      write: toInstantText,
    }),
  ],
]);

/** Negative, zero or positive; undefined where one of the two does not fit the kind. Without a kind, the values' own JSON types decide. */
export function compareAs(kind: Kind | undefined, left: Json, right: Json): number | undefined {
  return rulesFor(kind, left)?.compare(left, right);
}

/** Whether a value can be compared as `kind`: any text, number or boolean where no kind is known. */
export function fitsKind(kind: Kind | undefined, value: Json): boolean {
  return rulesFor(kind, value)?.fits(value) ?? false;
}

/** The one way a value of `kind` is written; undefined where it does not fit. */
export function canonicalAs(kind: Kind, value: Json): Json | undefined {
  return rulesFor(kind, value)?.canonical(value);
}

/** What a kind takes, in words with an article. */
export function kindNoun(kind: Kind | undefined): string {
  return (isSettled(kind) && SCALAR_KINDS.get(kind)?.noun) || 'a text, number or boolean';
}

/**
 * The kind of a comparison between values of two kinds: where one is not known (or is `json`, whose values speak for
 * themselves), the other; text meets date, timestamp and decimal, whose values are written as text; anything else is a mismatch.
 */
export function combineKinds(left: Kind | undefined, right: Kind | undefined): Kind | undefined | 'mismatch' {
  if (!isSettled(right) || left === right) return left;
  if (!isSettled(left)) return right;
  if (left === 'text' && isWrittenAsText(right)) return right;
  if (right === 'text' && isWrittenAsText(left)) return left;
  return 'mismatch';
}

function isSettled(kind: Kind | undefined): kind is Exclude<Kind, 'json'> {
  return kind !== undefined && kind !== 'json';
}

function isWrittenAsText(kind: Kind): boolean {
  return kind === 'date' || kind === 'timestamp' || kind === 'decimal';
}

function rulesFor(kind: Kind | undefined, value: Json): ScalarKind | undefined {
  return SCALAR_KINDS.get(isSettled(kind) ? kind : ownKind(value));
}

function ownKind(value: Json): Kind {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'boolean' : 'json';
}

function compareNumbers(left: number, right: number): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

/**
 * Negative, zero or positive in code point order, which is the order of UTF-8 bytes and so of the database.
 * JavaScript's own `<` goes by UTF-16 units and puts 😀 before U+FFFD.
 */
export function compareTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return codePointRank(a) - codePointRank(b);
  }
  return left.length - right.length;
}

/** Surrogates stand for code points above all others, yet their units lie below U+E000. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function scalarKind<Value>(rules: KindRules<Value>): ScalarKind {
  return {
    noun: rules.noun,
    fits: (value) => rules.read(value) !== undefined,
    compare(left, right) {
      const a = rules.read(left);
      const b = rules.read(right);
      return a === undefined || b === undefined ? undefined : rules.compare(a, b);
    },
    canonical(value) {
      const read = rules.read(value);
      return read === undefined ? undefined : rules.write(read);
    },
  };
}

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
