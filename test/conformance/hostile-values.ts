/** Values that have broken comparisons before. */
import type { Json } from '../../src/operators/index.ts';

/** Texts that databases or parsers may misinterpret: wildcards, quotes, case variants, combining characters, surrogates, other types written as text. */
export const TEXTS: readonly Json[] = [
  ...['', ' ', '%', '_', '\\', '*', '?', '[', ']', '[a]', '^', '-', "'", '"', ';--', '{}', 'null', 'true', '10', '9', '0x10'],
  ...['a', 'A', 'ab', 'aB', 'AB', 'abc', 'ba', 'a%b', 'a_b', 'a*b', 'a?b', 'a[b', 'aXb', 'zebra', 'Zebra'],
  ...'i I İ i\u0307 ı ß ẞ ss SS straße STRASSE σ ς Σ ΟΔΟΣ οδος \u00e9 e\u0301 É ǆ ǅ ﬁ \u212a k'.split(' '),
  ...['😀', '😀😀', 'a😀b', '\ud7ff', '\ue000', '\ufffd', '\uffff', '\u{10000}', '\u{10ffff}', '\u{10ffff}a'],
  ...['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::1', '10.1', '2026-01-31', '2026-01-31T12:00:00.000Z', '12.30', 'x'.repeat(300)],
];
/** Numbers at the limits of doubles. */
export const NUMBERS: readonly Json[] = [
  0,
  -0,
  1,
  -1,
  9,
  10,
  1.5,
  -1.5,
  0.1,
  0.1 + 0.2,
  2 ** 53,
  2 ** 53 - 1,
  -(2 ** 53),
  4394624990196793300,
  1e21,
  -1e21,
  1e308,
  5e-324,
];
/** Integers up to the limits of exact doubles. */
export const INTEGERS: readonly Json[] = [0, 1, -1, 9, 10, 100, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
/** Decimals with two digits after the point, up to eighteen digits. */
export const DECIMALS: readonly Json[] = [
  '0.00',
  '0.10',
  '-0.10',
  '12.30',
  '12.31',
  '9.00',
  '10.00',
  '-10.00',
  '9999999999999999.99',
  '-9999999999999999.99',
];
/** Calendar dates. */
export const DATES: readonly Json[] = [
  '0000-01-01',
  '1969-12-31',
  '1970-01-01',
  '2024-02-29',
  '2026-01-30',
  '2026-01-31',
  '2026-02-01',
  '9999-12-31',
];
/** Instants in canonical form. */
export const TIMESTAMPS: readonly Json[] = [
  ...[
    '0000-01-01T00:00:00.000Z',
    '1969-12-31T23:59:59.999Z',
    '2026-01-30T12:00:00.000Z',
    '2026-01-31T11:59:59.999Z',
    '2026-01-31T12:00:00.000Z',
  ],
  ...['2026-01-31T12:00:00.001Z', '2026-02-01T00:00:00.000Z', '2026-02-01T12:00:00.000Z', '9999-12-31T23:59:59.999Z'],
];

/** Right sides of comparisons: every value of every column, and values that no column has. */
export const OPERANDS: readonly Json[] = [
  null,
  ...[TEXTS, NUMBERS, INTEGERS, DECIMALS, DATES, TIMESTAMPS].flat(),
  ...['bc', 'A*', '*b', 'a?b', '**', '*😀*', '?', '??', '[[]', 'tr', 'aße', 'RASS', 'ΔΟΣ', '\ud800', 'a\0b', 'a\ud800'],
  ...['12.3', '12.300', '12.305', '-0', '-0.1', '1e2', '99999999999999999999', '0.001', 12.3, 12.305, 0.1, 100.5],
  ...['2026-02-30', '2026-01-31T14:00:00+02:00', '2026-01-31T12:00:00Z', '2026-01-31T12:00', '2026-01-31T24:00:00Z', '1h', 'P1D', '9999w'],
  ...['10.0.0.0/8', '::ffff:0:0/96', '2001:db8::/32', '^a', '[', true, false, {}, { a: 1 }],
];

/** Right sides that are lists. */
export const LISTS: readonly (readonly Json[])[] = [
  [],
  [null],
  ['a'],
  ['a', 'b'],
  ['A', '%', '😀', ''],
  ['a', 10],
  [10, 'x', null],
  [1, 2, 10],
  [4394624990196793300, 2 ** 53, 0.1],
  ['12.30', '0.1'],
  ['12.305', 'x'],
  ['12.305'],
  [12.3, '9'],
  [true],
  [true, 'true'],
  ['2026-01-31', '2026-02-01'],
  ['2026-01-31T14:00:00+02:00', '2026-02-01T00:00:00Z'],
  [{}, 'a'],
  [[]],
  ['10.0.0.0/8', '2001:db8::/32'],
  ['09:00', '17:00'],
  [6, 7],
  TEXTS,
  NUMBERS,
  Array.from({ length: 60 }, (_, index) => index),
  Array.from({ length: 60 }, (_, index) => `${index}.10`),
  Array.from({ length: 60 }, (_, index) => `v${index}"\\`),
];
