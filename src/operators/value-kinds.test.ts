import { describe, expect, it } from 'vitest';
import { foldCase } from '../fold-case.ts';
import { compareDecimals, parseDecimal, toDecimalText } from './decimals.ts';
import { FIRST_INSTANT, LAST_INSTANT, parseDate, parseDuration, parseInstant, parseTimeOfDay, toInstantText } from './instants.ts';
import { afterPrefix } from './text-operators.ts';
import type { Json, Kind } from './value.ts';
import { canonicalAs, combineKinds, compareAs, compareTexts } from './value-kinds.ts';

/** Tests a function with a table of inputs and results. */
function check<In, Out>(name: string, run: (given: In) => Out, table: readonly (readonly [In, Out])[]): void {
  describe(name, () => {
    for (const [given, expected] of table)
      it(`${name} returns ${JSON.stringify(expected)} for ${JSON.stringify(given).slice(0, 60)}`, () =>
        expect(run(given)).toEqual(expected));
  });
}

check<string, string | undefined>('parseInstant', (text) => mapDefined(parseInstant(text), toInstantText), [
  ['2026-01-31T09:00:00Z', '2026-01-31T09:00:00.000Z'],
  ['2026-01-31T09:00Z', '2026-01-31T09:00:00.000Z'],
  ['2026-01-31T10:30:00+01:30', '2026-01-31T09:00:00.000Z'],
  ['2026-01-31T09:00:00.123987Z', '2026-01-31T09:00:00.123Z'],
  ['2026-01-31T09:00:00.5Z', '2026-01-31T09:00:00.500Z'],
  ['2026-01-31T09:00:00.05-00:30', '2026-01-31T09:30:00.050Z'],
  ['2026-01-31T09:00-00:30', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31T09:00:07+00:00', '2026-01-31T09:00:07.000Z'],
  ['2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00.000Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ['2026-02-29T00:00:00Z', undefined],
  ['2026-01-31', undefined],
  ['2026-01-31T09:00:00', undefined],
  ['2026-01-31 09:00:00Z', undefined],
  ['2026-01-31T24:00:00Z', undefined],
  ['2026-01-31T09:60:00Z', undefined],
  ['2026-01-31T09:00:60Z', undefined],
  ['2026-01-31T09:00:00.Z', undefined],
  ['2026-01-31T09:00:00.0123456789Z', undefined],
  ['2026-01-31T09:00:00+01:60', undefined],
  ['2026-01-31T09:00:00Z\n', undefined],
  ['2026-01-31t09:00:00z', undefined],
  ['2026-01-31T09:00:00+24:00', undefined],
  ['0000-01-01T00:00:00+01:00', undefined],
  ['9999-12-31T23:59:59-01:00', undefined],
  ['1769850000000', undefined],
]);

describe('the range of instants', () => {
  it('instants range over the years of four digits', () => {
    expect([FIRST_INSTANT, LAST_INSTANT].map(toInstantText)).toEqual(['0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']);
    expect(toInstantText(Number.POSITIVE_INFINITY)).toBe('9999-12-31T23:59:59.999Z');
  });
});

describe('toInstantText', () => {
  it('renders instants like Date, also after other instants', () => {
    const instants = [0, -1, 999, 1000, 1001, 1000, -999, -1000, -1001, 1772620200007, 1772620200070, 1772620200700, 12.7, -12.7];
    for (const instant of [...instants, FIRST_INSTANT, LAST_INSTANT]) expect(toInstantText(instant)).toBe(new Date(instant).toISOString());
  });
});

check<string, boolean>('parseDate', (text) => parseDate(text) !== undefined, [
  ['2024-02-29', true],
  ['2026-02-29', false],
  ['2026-13-01', false],
  ['2026-00-01', false],
  ['2026-01-00', false],
  ['2026-1-1', false],
  ['0000-01-01', true],
  ['2 26-01-01', false],
  ['202\u0666-01-01', false],
  ['2026-01-011', false],
]);

describe('calendar days', () => {
  it('parses exactly the days of the calendar', () => {
    const two = (number: number) => String(number).padStart(2, '0');
    for (const year of Array.from({ length: 1000 }, (_, index) => index * 10 + (index % 10))) {
      for (let month = 0; month <= 13; month++) {
        for (const day of [0, 1, 28, 29, 30, 31, 32]) {
          const text = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
          const midnight = new Date(`${text}T00:00:00Z`);
          const exists = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
          if (parseDate(text) !== (exists ? midnight.getTime() : undefined)) expect.fail(text);
        }
      }
    }
  });
});

check<string, number | undefined>('parseDuration', parseDuration, [
  ['90s', 90_000],
  ['30m', 1_800_000],
  ['24h', 86_400_000],
  ['2w', 1_209_600_000],
  ['P7D', 604_800_000],
  ['P1W', 604_800_000],
  ['PT24H', 86_400_000],
  ['P1DT1H1M1S', 90_061_000],
  ['P', undefined],
  ['PT', undefined],
  ['P1DT', undefined],
  ['P1Y', undefined],
  ['P1M', undefined],
  ['-1h', undefined],
  ['1.5h', undefined],
  ['1 h', undefined],
]);

check<string, number | undefined>('parseTimeOfDay', parseTimeOfDay, [
  ['00:00', 0],
  ['22:30', 81_000_000],
  ['23:59:59', 86_399_000],
  ['24:00', undefined],
  ['9:00', undefined],
]);

check<unknown, string | undefined>('parseDecimal', (value) => mapDefined(parseDecimal(value), toDecimalText), [
  ['12.30', '12.3'],
  ['-0.50', '-0.5'],
  ['-0', '0'],
  ['007', '7'],
  [12.3, '12.3'],
  [0.1, '0.1'],
  [1e21, '1000000000000000000000'],
  [5e-7, '0.0000005'],
  [-1.5e-7, '-0.00000015'],
  ['1e2', undefined],
  ['.5', undefined],
  ['+1', undefined],
  ['', undefined],
  [true, undefined],
  ['1'.repeat(401), undefined],
]);

describe('compareDecimals', () => {
  it('compares decimals exactly if doubles would round them', () => {
    const [a, b] = ['9007199254740993.01', '9007199254740993.02'].map(parseDecimal);
    expect(a !== undefined && b !== undefined && compareDecimals(a, b)).toBe(-1);
  });
});

check<readonly [string, string], number>('compareTexts', ([a, b]) => Math.sign(compareTexts(a, b)), [
  [['a', 'b'], -1],
  [['a', 'ab'], -1],
  [['Z', 'a'], -1],
  [['\u{1f600}', '\ufffd'], 1],
  [['\ud7ff', '\ue000'], -1],
  [['\u{10000}', '\u{10ffff}'], -1],
  [['', ''], 0],
]);

check<readonly [string, string], boolean>('foldCase', ([a, b]) => foldCase(a) === foldCase(b), [
  [['Straße', 'STRASSE'], true],
  [['ẞ', 'ß'], true],
  [['ΟΔΟΣ', 'οδος'], true],
  [['ς', 'σ'], true],
  [['ı', 'i'], false],
  [['ı', 'I'], false],
  [['I', 'i'], true],
  [['İ', 'i\u0307'], true],
  [['\u00e9', 'e\u0301'], false],
  [['K', 'k'], true],
]);

check<string, string | undefined>('afterPrefix', afterPrefix, [
  ['a', 'b'],
  ['\ud7ff', '\ue000'],
  ['a\u{10ffff}', 'b'],
  ['\u{10ffff}', undefined],
  ['', undefined],
]);

check<readonly [Kind | undefined, Json, Json], number | undefined>(
  'compareAs',
  ([kind, a, b]) => mapDefined(compareAs(kind, a, b), Math.sign),
  [
    [['number', 1, 2], -1],
    [['number', -0, 0], 0],
    [['number', 1, '1'], undefined],
    [['number', Number.NaN, 1], undefined],
    [['text', '\ud800', '\ufffd'], 0],
    [[undefined, 'a', 1], undefined],
    [[undefined, true, false], 1],
    [['json', 'a', 'b'], -1],
    [['timestamp', '2026-01-31T10:00:00+01:00', '2026-01-31T09:00:00Z'], 0],
    [['list', ['a'], ['a']], undefined],
  ],
);

check<readonly [Kind | undefined, Kind | undefined], Kind | undefined | 'mismatch'>('combineKinds', ([a, b]) => combineKinds(a, b), [
  [[undefined, 'text'], 'text'],
  [['number', undefined], 'number'],
  [['json', 'number'], 'number'],
  [['json', undefined], 'json'],
  [['text', 'timestamp'], 'timestamp'],
  [['decimal', 'text'], 'decimal'],
  [['number', 'text'], 'mismatch'],
  [['number', 'decimal'], 'mismatch'],
  [['date', 'timestamp'], 'mismatch'],
]);

check<readonly [Kind, Json], Json | undefined>('canonicalAs', ([kind, value]) => canonicalAs(kind, value), [
  [['timestamp', '2026-01-31T10:00:00+01:00'], '2026-01-31T09:00:00.000Z'],
  [['decimal', '12.300'], '12.3'],
  [['boolean', 'true'], undefined],
  [['list', ['a']], undefined],
]);

function mapDefined<In, Out>(value: In | undefined, map: (value: In) => Out): Out | undefined {
  return value === undefined ? undefined : map(value);
}
