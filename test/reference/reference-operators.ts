/**
 * The meaning of each operator in its simplest form, written from `docs/reference/operators.md`. It takes nothing from `src/`
 * but types, so an agreement of the two is no coincidence.
 */
import type { Json, Kind, Truth } from '../../src/operators/index.ts';
import {
  type Bits,
  compareFractions,
  toBits,
  toDay,
  toDuration,
  toFraction,
  toInstant,
  toTimeOfDay,
  unmapped,
} from './reference-values.ts';

/** Kinds, time and time zone of a comparison. An unknown kind is undefined. */
export interface Terms {
  readonly kind: Kind | undefined;
  readonly itemKind: Kind | undefined;
  readonly now: number;
  readonly timeZone: string;
}

/** The meaning of an operator. */
export interface Meaning {
  /** Kinds of subject that it supports. */
  readonly kinds: readonly Kind[];
  /** The role of a `${path}` on the right side: one value, several values, or something whose kind does not matter. */
  readonly right: 'value' | 'values' | 'other';
  /** True if the operator defines a result for a missing subject. */
  readonly onMissing?: true;
  /** True if the operator defines a result for JSON null. */
  readonly onNull?: true;
  says(actual: Json, expected: Json, terms: Terms): Truth;
}

export const not = (truth: Truth): Truth => (truth === null ? null : !truth);

/** Combines truths by *or*. Reads no further than a true one. */
export function any(truths: Iterable<Truth>): Truth {
  let result: Truth = false;
  for (const truth of truths) {
    if (truth === true) return true;
    if (truth === null) result = null;
  }
  return result;
}

/** Combines truths by *and*. Reads no further than a false one. */
export function all(truths: Iterable<Truth>): Truth {
  let result: Truth = true;
  for (const truth of truths) {
    if (truth === false) return false;
    if (truth === null) result = null;
  }
  return result;
}

/** Evaluates items one after the other, as far as the truths are read. */
export function* truthsOf<Item>(items: readonly Item[], truthOf: (item: Item) => Truth): Generator<Truth> {
  for (const item of items) yield truthOf(item);
}

const ORDERED: readonly Kind[] = ['text', 'number', 'decimal', 'date', 'timestamp', 'json'];
const EQUATABLE: readonly Kind[] = [...ORDERED, 'boolean'];
const TEXT: readonly Kind[] = ['text', 'json'];
const LIST: readonly Kind[] = ['list', 'json'];

export const MEANINGS: ReadonlyMap<string, Meaning> = new Map<string, Meaning>(
  Object.entries<Meaning>({
    eq: equality((a, b, { kind }) => equal(a, b, kind)),
    ne: equality((a, b, { kind }) => not(equal(a, b, kind))),
    in: { ...equality((a, b, { kind }) => each(b, (one) => equal(a, one, kind), any)), right: 'values' },
    nin: { ...equality((a, b, { kind }) => not(each(b, (one) => equal(a, one, kind), any))), right: 'values' },
    gt: ordering((order) => order > 0),
    gte: ordering((order) => order >= 0),
    lt: ordering((order) => order < 0),
    lte: ordering((order) => order <= 0),
    between: { kinds: ORDERED, right: 'values', says: isBetween },
    contains: text((a, b) => a.includes(b)),
    ncontains: text((a, b) => !a.includes(b)),
    startsWith: text((a, b) => a.startsWith(b)),
    endsWith: text((a, b) => a.endsWith(b)),
    icontains: text((a, b) => fold(a).includes(fold(b))),
    incontains: text((a, b) => !fold(a).includes(fold(b))),
    istartsWith: text((a, b) => fold(a).startsWith(fold(b))),
    iendsWith: text((a, b) => fold(a).endsWith(fold(b))),
    like: text((a, b) => isLike([...a], [...b])),
    matches: text(hasMatch),
    exists: { ...presence((value) => value !== undefined) },
    isNull: { ...presence((value) => value === undefined || value === null) },
    empty: { kinds: ['text', 'list', 'json'], right: 'other', says: isEmpty },
    has: { kinds: LIST, right: 'value', says: (a, b, { itemKind }) => each(a, (item) => equal(item, b, itemKind), any) },
    hasAny: {
      kinds: LIST,
      right: 'values',
      says: (a, b, { itemKind }) => pairs(a, b, (items, one) => any(items.map(is(one, itemKind))), any),
    },
    hasAll: {
      kinds: LIST,
      right: 'values',
      says: (a, b, { itemKind }) => pairs(a, b, (items, one) => any(items.map(is(one, itemKind))), all),
    },
    subsetOf: {
      kinds: LIST,
      right: 'values',
      says: (a, b, { itemKind }) => pairs(b, a, (wanted, item) => any(wanted.map(is(item, itemKind))), all),
    },
    before: sequence((order) => order < 0),
    after: sequence((order) => order > 0),
    withinLast: within((now, length) => [now - length, now]),
    withinNext: within((now, length) => [now, now + length]),
    timeOfDayBetween: { kinds: ['timestamp', 'json'], right: 'other', says: isAtTimeOfDay },
    dayOfWeekIn: { kinds: ['timestamp', 'date', 'json'], right: 'other', says: isOnDay },
    cidr: { kinds: TEXT, right: 'other', says: isInNetwork },
    ncidr: { kinds: TEXT, right: 'other', says: (a, b) => not(isInNetwork(a, b)) },
  }),
);

/** Compares for equality: null equals only null; a list or object is unknown. */
function equal(a: Json, b: Json, kind: Kind | undefined): Truth {
  if ((typeof a === 'object' && a !== null) || (typeof b === 'object' && b !== null)) return null;
  if (a === null || b === null) return a === b;
  const order = compare(a, b, kind);
  return order === undefined ? null : order === 0;
}

const is =
  (wanted: Json, kind: Kind | undefined) =>
  (item: Json): Truth =>
    equal(item, wanted, kind);

function each(list: Json, answer: (item: Json) => Truth, join: typeof any): Truth {
  return Array.isArray(list) ? join(list.map((item: Json) => answer(item))) : null;
}

/** Compares each item of `ones` with `whole`. */
function pairs(whole: Json, ones: Json, answer: (whole: readonly Json[], one: Json) => Truth, join: typeof any): Truth {
  return Array.isArray(whole) ? each(ones, (one) => answer(whole, one), join) : null;
}

/** Returns a negative number, zero or a positive number; undefined if the two do not compare. Without a kind, values of the same JSON type compare. */
function compare(a: Json, b: Json, kind: Kind | undefined): number | undefined {
  switch (kind === undefined || kind === 'json' ? typeof a : kind) {
    case 'text':
    case 'string':
      if (typeof a !== 'string' || typeof b !== 'string') return undefined;
      return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
    case 'number':
      return typeof a === 'number' && typeof b === 'number' ? sign(a, b) : undefined;
    case 'boolean':
      return typeof a === 'boolean' && typeof b === 'boolean' ? sign(Number(a), Number(b)) : undefined;
    case 'decimal':
      return compareFractions(toFraction(a), toFraction(b));
    case 'date':
      return sign(toDay(a), toDay(b));
    case 'timestamp':
      return sign(toInstant(a), toInstant(b));
    default:
      return undefined;
  }
}

function sign(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a === b ? 0 : a < b ? -1 : 1;
}

function equality(says: Meaning['says']): Meaning {
  return { kinds: EQUATABLE, right: 'value', onNull: true, says };
}

function ordering(holds: (order: number) => boolean): Meaning {
  return { kinds: ORDERED, right: 'value', says: (a, b, { kind }) => orderOf(a, b, { kind, holds }) };
}

/** Booleans have no order. */
function orderOf(a: Json, b: Json, { kind, holds }: { kind: Kind | undefined; holds: (order: number) => boolean }): Truth {
  const order = typeof a === 'boolean' ? undefined : compare(a, b, kind);
  return order === undefined ? null : holds(order);
}

function isBetween(a: Json, b: Json, { kind }: Terms): Truth {
  if (!Array.isArray(b) || b.length !== 2) return null;
  return all([orderOf(a, b[0], { kind, holds: (order) => order >= 0 }), orderOf(a, b[1], { kind, holds: (order) => order <= 0 })]);
}

function text(holds: (a: string, b: string) => Truth): Meaning {
  return {
    kinds: TEXT,
    right: 'other',
    // Stored text is UTF-8, in which a lone surrogate becomes U+FFFD.
    says: (a, b) => (typeof a === 'string' && typeof b === 'string' ? holds(a.toWellFormed(), b.toWellFormed()) : null),
  };
}

/** Folds case letter by letter, so that neighbours have no influence. The dotless i of Turkish stays distinct. */
function fold(written: string): string {
  return [...written].map((letter) => (letter === 'ı' ? letter : letter.toLowerCase().toUpperCase())).join('');
}

function isLike([letter, ...letters]: readonly string[], [wanted, ...rest]: readonly string[]): boolean {
  if (wanted === undefined) return letter === undefined;
  if (wanted === '*')
    return isLike(letter === undefined ? [] : [letter, ...letters], rest) || (letter !== undefined && isLike(letters, [wanted, ...rest]));
  return letter !== undefined && (wanted === '?' || wanted === letter) && isLike(letters, rest);
}

/** Matches a pattern. Only for patterns that RE2 and JavaScript interpret alike and that are slow in neither. */
function hasMatch(a: string, pattern: string): Truth {
  try {
    return new RegExp(pattern, 'u').test(a);
  } catch {
    return null;
  }
}

function presence(holds: (value: Json | undefined) => boolean): Meaning {
  const kinds: readonly Kind[] = [...EQUATABLE, 'list'];
  const says = (a: Json, b: Json): Truth => (typeof b === 'boolean' ? holds(a) === b : null);
  return { kinds, right: 'other', onMissing: true, onNull: true, says };
}

function isEmpty(a: Json, b: Json): Truth {
  return typeof b === 'boolean' && (typeof a === 'string' || Array.isArray(a)) ? (a.length === 0) === b : null;
}

/** Compares two values without a kind as dates if both are dates, otherwise as instants. */
function sequence(holds: (order: number) => boolean): Meaning {
  return {
    kinds: ['timestamp', 'date', 'json'],
    right: 'value',
    says: (a, b, { kind }) => orderOf(a, b, { kind: kind === 'date' ? 'date' : 'timestamp', holds }),
  };
}

function within(ends: (now: number, length: number) => readonly [number, number]): Meaning {
  return {
    kinds: ['timestamp', 'json'],
    right: 'other',
    says(a, b, { now }) {
      const [at, length] = [toInstant(a), toDuration(b)];
      if (at === undefined || length === undefined) return null;
      const [first, last] = ends(now, length);
      return first <= at && at <= last;
    },
  };
}

function isAtTimeOfDay(a: Json, b: Json, { timeZone }: Terms): Truth {
  const at = toInstant(a);
  const [from, to] = Array.isArray(b) && b.length === 2 ? b.map(toTimeOfDay) : [];
  if (at === undefined || from === undefined || to === undefined) return null;
  const clock = formatter('sv', { timeZone, timeStyle: 'medium' }).format(at);
  const time = (toTimeOfDay(clock) ?? Number.NaN) + new Date(at).getUTCMilliseconds() / 1000;
  return from <= to ? from <= time && time < to : time >= from || time < to;
}

function isOnDay(a: Json, b: Json, { kind, timeZone }: Terms): Truth {
  const at = kind === 'date' ? toDay(a) : toInstant(a);
  if (at === undefined) return null;
  const zone = kind === 'date' ? 'UTC' : timeZone;
  const name = formatter('en', { timeZone: zone, weekday: 'long' }).format(at);
  const day = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'].indexOf(name) + 1;
  return each(b, (one) => ([1, 2, 3, 4, 5, 6, 7].some((known) => known === one) ? one === day : null), any);
}

function isInNetwork(a: Json, b: Json): Truth {
  const address = typeof a === 'string' ? unmapped(toBits(a)) : undefined;
  return address === undefined ? null : each(Array.isArray(b) ? b : [b], (network) => isIn(address, network), any);
}

function isIn(address: Bits, network: Json): Truth {
  const [written = '', length] = typeof network === 'string' ? network.split(/\/(.*)/s) : [];
  const whole = toBits(written);
  const prefix = length === undefined ? whole?.width : /^(0|[1-9]\d{0,2})$/.test(length) ? Number(length) : undefined;
  if (whole === undefined || prefix === undefined || prefix > whole.width) return null;
  const base = unmapped(whole);
  // A shorter prefix would cut the marker of an IPv4-mapped address.
  const fixed = prefix - (whole.width - base.width);
  if (fixed < 0) return null;
  const free = BigInt(base.width - fixed);
  return address.width === base.width && address.value >> free === base.value >> free;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Formatters by time zone; creating one is slow. */
function formatter(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([language, options]);
  const known = formatters.get(key) ?? new Intl.DateTimeFormat(language, options);
  formatters.set(key, known);
  return known;
}
