import { compareDecimals, parseDecimal, toDecimalText } from './decimals.ts';
import { parseDate, parseInstant, toInstantText } from './instants.ts';
import type { SqlColumn } from './operator.ts';
import type { Json, Kind } from './value.ts';

/** The parser, order and canonical form of the values of a kind. */
interface KindRules<Value> {
  /** The noun with its article, for messages. */
  readonly noun: string;
  /** Parses a value without coercion; undefined if it does not fit the kind. */
  parse(value: Json): Value | undefined;
  compare(left: Value, right: Value): number;
  /** Returns the canonical form. */
  render(value: Value): Json;
}

/** A scalar kind, without the type parameter of its values. */
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
      // A lone surrogate has no UTF-8 form: the database would store U+FFFD.
      parse: (value) => (typeof value === 'string' ? value.toWellFormed() : undefined),
      compare: compareTexts,
      render: (text) => text,
    }),
  ],
  [
    'number',
    scalarKind<number>({
      noun: 'a number',
      parse: (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined),
      compare: compareNumbers,
      render: (number) => number,
    }),
  ],
  [
    'boolean',
    scalarKind<boolean>({
      noun: 'true or false',
      parse: (value) => (typeof value === 'boolean' ? value : undefined),
      compare: (left, right) => Number(left) - Number(right),
      render: (boolean) => boolean,
    }),
  ],
  [
    'decimal',
    scalarKind({
      noun: 'a decimal such as "12.30"',
      parse: parseDecimal,
      compare: compareDecimals,
      render: toDecimalText,
    }),
  ],
  [
    'date',
    scalarKind<string>({
      noun: 'a date such as "2026-01-31"',
      parse: (value) => (typeof value === 'string' && parseDate(value) !== undefined ? value : undefined),
      compare: compareTexts,
      render: (date) => date,
    }),
  ],
  [
    'timestamp',
    scalarKind<number>({
      noun: 'an instant such as "2026-01-31T09:00:00Z"',
      parse: (value) => (typeof value === 'string' ? parseInstant(value) : undefined),
      compare: compareNumbers,
      render: toInstantText,
    }),
  ],
]);

/**
 * Compares two values as `kind`. Returns a negative number, zero or a positive number; undefined if a value does not fit the kind.
 * Without a kind, the JSON type of the left value is the kind.
 */
export function compareAs(kind: Kind | undefined, left: Json, right: Json): number | undefined {
  return rulesFor(kind, left)?.compare(left, right);
}

/** Returns true if a value can be compared as `kind`. Without a kind, every text, number and boolean can. */
export function fitsKind(kind: Kind | undefined, value: Json): boolean {
  return rulesFor(kind, value)?.fits(value) ?? false;
}

/** Returns the canonical form of a value of `kind`; undefined if the value does not fit. */
export function canonicalAs(kind: Kind, value: Json): Json | undefined {
  return rulesFor(kind, value)?.canonical(value);
}

/** Returns the noun of a kind with its article, for messages. */
export function kindNoun(kind: Kind | undefined): string {
  return (isKnownScalar(kind) && SCALAR_KINDS.get(kind)?.noun) || 'a text, number or boolean';
}

/**
 * Returns the kind that values of two kinds are compared as. If one kind is unknown or `json`, the result is the other. Texts compare with
 * dates, timestamps and decimals, whose values are written as texts. Other combinations are a mismatch.
 */
export function combineKinds(left: Kind | undefined, right: Kind | undefined): Kind | undefined | 'mismatch' {
  if (!isKnownScalar(right) || left === right) return left;
  if (!isKnownScalar(left)) return right;
  if (left === 'text' && isWrittenAsText(right)) return right;
  if (right === 'text' && isWrittenAsText(left)) return left;
  return 'mismatch';
}

function isKnownScalar(kind: Kind | undefined): kind is Exclude<Kind, 'json'> {
  return kind !== undefined && kind !== 'json';
}

function isWrittenAsText(kind: Kind): boolean {
  return kind === 'date' || kind === 'timestamp' || kind === 'decimal';
}

function rulesFor(kind: Kind | undefined, value: Json): ScalarKind | undefined {
  return SCALAR_KINDS.get(isKnownScalar(kind) ? kind : ownKind(value));
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
 * Compares two texts by code points, which is the order of UTF-8 bytes and of both databases.
 * JavaScript's `<` compares UTF-16 units and orders 😀 before U+FFFD.
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

/** Ranks surrogates above all other units: they encode the highest code points, but their units are below U+E000. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function scalarKind<Value>(rules: KindRules<Value>): ScalarKind {
  return {
    noun: rules.noun,
    fits: (value) => rules.parse(value) !== undefined,
    compare(left, right) {
      const a = rules.parse(left);
      const b = rules.parse(right);
      return a === undefined || b === undefined ? undefined : rules.compare(a, b);
    },
    canonical(value) {
      const read = rules.parse(value);
      return read === undefined ? undefined : rules.render(read);
    },
  };
}

/**
 * An operand in the stored form of a column. `fits` is false if the value does not fit the kind; the comparison is unknown. `bound` is
 * absent if the value fits but the column cannot store it, such as a decimal with too many places or a text with NUL. If `bound` is absent,
 * no stored value equals the operand, but stored values can still be less or greater.
 */
export type StoredOperand = { readonly fits: false } | { readonly fits: true; readonly bound?: unknown };

/** Converts a value of `kind` to the stored form of a column. */
export function toStored(column: SqlColumn, kind: Kind, value: Json): StoredOperand {
  const canonical = canonicalAs(kind, value);
  if (canonical === undefined) return { fits: false };
  // Texts and numbers are bound unchanged: `encode` returns undefined for a value outside an enum, and `ne` must be true for it.
  if (kind === 'text' || kind === 'number') return isStorable(canonical) ? { fits: true, bound: canonical } : { fits: true };
  const bound = column.encode(canonical);
  return bound === undefined ? { fits: true } : { fits: true, bound };
}

/** Returns false for a text with NUL: no column stores NUL, and PostgreSQL rejects it in parameters. */
function isStorable(value: Json): boolean {
  return typeof value !== 'string' || !value.includes('\0');
}

/** The stored form of 1 differs between two scales of decimals; at the largest scale, 1 does not fit and has no stored form. */
const ONE = '1';

/** Returns true if the stored forms of two columns compare like their values: both have one kind, and decimals have one scale. */
export function isStoredAlike(left: SqlColumn, right: SqlColumn): boolean {
  if (left.kind !== right.kind || left.kind === 'json' || left.kind === 'list') return false;
  return left.kind !== 'decimal' || left.encode(ONE) === right.encode(ONE);
}
