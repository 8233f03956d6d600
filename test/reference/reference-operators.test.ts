/** Compares the operators of `src/` in memory with the reference: every operator, column and operand of the hostile table. */
import { describe, expect, it } from 'vitest';
import { type ComparisonContext, type Json, OPERATORS, ownValue, type Truth } from '../../src/operators/index.ts';
import { ALL_COLUMNS, createHostileTable, LISTS, NOW, OPERANDS } from '../conformance/hostile-table.ts';
import { MEANINGS } from './reference-operators.ts';

/** Time zones with negative, half-hour and 45-minute offsets, one of them with daylight saving. */
const ZONES = ['UTC', 'America/St_Johns', 'Asia/Kathmandu'];

const NETWORKS: readonly Json[] = [
  ...[
    '10.0.0.0/8',
    '10.1.2.3',
    '10.1.2.3/32',
    '0.0.0.0/0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/08',
    '010.0.0.0/8',
    '10.0.0.0/8/8',
    '127.1/8',
  ],
  ...['2001:db8::/32', '2001:DB8:0:0::/33', '::/0', '::1/128', '::1/129', 'fe80::1%eth0/64', '1::2::3/16'],
  ...[
    '::ffff:0:0/96',
    '::ffff:10.0.0.0/104',
    '::ffff:10.0.0.0/95',
    '::ffff:a00:0/104',
    '::10.0.0.0/104',
    ['10.0.0.0/8', 'x'],
    [],
    ['x', 5],
  ],
];
const ADDRESSES = [
  ...['10.1.2.3', '10.255.255.255', '11.0.0.0', '0.0.0.0', '255.255.255.255', '010.1.2.3', '10.1.2', '0x0a.1.2.3', '10.1.2.3 '],
  ...[
    '::ffff:10.1.2.3',
    '::FFFF:a01:203',
    '::ffff:010.1.2.3',
    '::a01:203',
    '0:0:0:0:0:ffff:0a01:0203',
    '::10.1.2.3',
    '::',
    '::1',
    '2001:db8::1',
    '2001:db8:8000::',
    'fe80::1%eth0',
  ],
];
const DURATIONS: readonly Json[] = [
  '0s',
  '1s',
  '1h',
  '1d',
  '9999w',
  'P1D',
  'P1DT1S',
  'PT24H',
  'P1W',
  'P',
  'PT',
  'P1M',
  'P1Y',
  '1.5h',
  '-1h',
  'P1DT',
  3600,
];
/** Instants around midnight, daylight saving changes, and the first and last instant. */
const INSTANTS = [
  ...[
    '2026-01-31T11:59:59.999Z',
    '2026-01-31T12:00:00Z',
    '2026-01-31T12:00:00.0009Z',
    '2026-01-31T23:59:59.999+12:00',
    '2026-01-31T24:00:00Z',
  ],
  ...['2026-03-08T01:59:59.999-03:30', '2026-03-08T05:30:00Z', '2026-11-01T04:30:00Z', '2026-02-30T00:00:00Z', '2026-02-28T23:59:60Z'],
  ...['0000-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01', '2026-01-31T12:00Z', '2026-01-31 12:00:00Z', '2026-01-31T12:00:00+24:00'],
];
const TIMES: readonly Json[] = [
  ['00:00', '12:00'],
  ['22:00', '06:00'],
  ['06:30', '06:30'],
  ['08:29:59', '08:30:01'],
  ['24:00', '06:00'],
  ['6:00', '07:00'],
];
const PATTERNS: readonly Json[] = ['^a', 'b$', '[0-9]', '.', '^$', 'ß|é', '(', '\\d{4}-'];
/** Operands of operators with a special operand type. */
const OWN_OPERANDS: Readonly<Record<string, readonly Json[]>> = {
  matches: PATTERNS,
  cidr: NETWORKS,
  ncidr: NETWORKS,
  withinLast: DURATIONS,
  withinNext: DURATIONS,
  timeOfDayBetween: TIMES,
  dayOfWeekIn: [[1], [2, 3, 4], [6, 7], [1, 2, 3, 4, 5, 6, 7, 8], [1.5], ['1'], []],
};

const table = await createHostileTable();
const rows = table.rows;
await table.close();

it('the reference has every operator', () => {
  expect([...MEANINGS.keys()].toSorted()).toEqual([...OPERATORS.keys()].toSorted());
});

describe.each([...OPERATORS.values()])('$name', (operator) => {
  const meaning = MEANINGS.get(operator.name);
  if (meaning === undefined) throw new Error(`the reference has no ${operator.name}`);
  /** Evaluates as a condition does: missing, null and mismatching values are unknown unless the operator defines them. */
  const reference = (actual: Json | undefined, expected: Json, frame: ComparisonContext): Truth => {
    if (actual === undefined && meaning.onMissing !== true) return null;
    if (actual === null && meaning.onNull !== true) return null;
    if (frame.kind !== undefined && !meaning.kinds.includes(frame.kind)) return null;
    return meaning.says(actual as Json, expected, { kind: undefined, itemKind: undefined, ...frame });
  };

  it(`the reference of ${operator.name} supports the same kinds`, () => {
    expect(meaning.kinds.toSorted()).toEqual(operator.kinds.toSorted());
  });

  it(`the reference of ${operator.name} gives the results of its samples`, () => {
    for (const { actual, expected, kind, itemKind, result } of operator.samples) {
      const frame = { kind, itemKind, now: NOW, timeZone: 'UTC' };
      expect([actual, expected, reference(actual, expected, frame)]).toEqual([actual, expected, result]);
    }
  });

  it(`the operator ${operator.name} gives the same result as its reference for every value and operand`, () => {
    const others = [...OPERANDS, ...LISTS];
    const own = OWN_OPERANDS[operator.name];
    // A few operands of other operators suffice. Invalid patterns are left out, because the two engines differ on them.
    const operands = own === undefined ? others : [...own, ...others.filter((one, index) => index % 20 === 0 && typeof one !== 'string')];
    const different: unknown[] = [];
    const answers = new Set<Truth>();
    for (const [index, { name, kind }] of ALL_COLUMNS.entries()) {
      const timeZone = ZONES[index % ZONES.length] ?? 'UTC';
      const values = new Set([undefined, null, ...rows.map(({ record }) => ownValue(record, name)), ...ADDRESSES, ...INSTANTS]);
      // With the kind of the column, and without a kind, as claims are compared.
      for (const frame of [
        { ...kind, now: NOW, timeZone },
        { now: NOW, timeZone },
      ]) {
        // Without a kind, each column gets a part of the operands; all columns together get all.
        const met = 'kind' in frame ? operands : operands.filter((_, at) => at % 8 === index % 8);
        for (const expected of met) {
          for (const actual of values) {
            const wanted = reference(actual, expected, frame);
            answers.add(wanted);
            if (operator.evaluate(actual, expected, frame) !== wanted) different.push({ name, actual, expected, frame, wanted });
          }
        }
      }
    }
    expect(different.slice(0, 10)).toEqual([]);
    expect(answers).toEqual(new Set([true, false, null]));
  });
});
