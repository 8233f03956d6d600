import { describe, expect, it } from 'vitest';
import { sql } from '../sql.ts';
import { type ComparisonContext, IN_MEMORY, type SqlColumn } from './operator.ts';
import { SQL_UNKNOWN, type SqlDialect } from './operator-sql.ts';
import { OPERATORS, suggestOperator } from './operator-table.ts';
import { matchesPattern, validatePattern } from './pattern.ts';
import type { Json, Kind, Truth } from './value.ts';

describe('suggestOperator', () => {
  it.each([
    ['==', 'eq'],
    ['equals', 'eq'],
    ['_eq', 'eq'],
    ['$eq', 'eq'],
    ['StringEquals', 'eq'],
    ['!=', 'ne'],
    ['neq', 'ne'],
    ['>=', 'gte'],
    ['not_in', 'nin'],
    ['contains_any', 'hasAny'],
    ['containsAll', 'hasAll'],
    ['@>', 'hasAll'],
    ['contained_by', 'subsetOf'],
    ['starts_with', 'startsWith'],
    ['_istarts_with', 'istartsWith'],
    ['regex', 'matches'],
    ['is_null', 'isNull'],
    ['IpAddress', 'cidr'],
    ['betwen', 'between'],
    ['EQ', 'eq'],
  ])('corrects the operator %s to %s', (given, operator) => {
    expect(suggestOperator(given)).toBe(` (did you mean "${operator}"?)`);
  });

  it('suggests no operator for a name that resembles none', () => {
    expect(suggestOperator('contains_any', ['eq', 'ne'])).toBe('');
    expect(suggestOperator('constructor')).toBe('');
    expect(suggestOperator('_')).toBe('');
  });

  it('suggests our own names for other spellings of them', () => {
    for (const name of OPERATORS.keys()) expect(suggestOperator(name.toUpperCase())).toBe(` (did you mean "${name}"?)`);
  });
});

const context: ComparisonContext = { now: Date.parse('2026-01-31T12:00:00Z'), timeZone: 'UTC' };

describe('operators in memory', () => {
  for (const operator of OPERATORS.values()) {
    it(`${operator.name} has the results of its samples`, () => {
      for (const { actual, expected, kind, itemKind, result } of operator.samples) {
        expect([actual, expected, operator.evaluate(actual, expected, { ...context, kind, itemKind })]).toEqual([actual, expected, result]);
      }
    });

    it(`${operator.name} has samples with different results`, () => {
      expect(new Set(operator.samples.map((sample) => sample.result)).size).toBeGreaterThan(1);
    });

    it(`${operator.name} accepts the operands of its true samples`, () => {
      for (const { expected, kind, itemKind, result } of operator.samples) {
        if (result === true) expect([expected, operator.validateOperand(expected, { kind, itemKind })]).toEqual([expected, undefined]);
      }
    });

    it(`${operator.name} names operators that exist`, () => {
      for (const name of [operator.negator, operator.commutator, ...(operator.itemwise?.operators ?? [])]) {
        if (name !== undefined) expect(OPERATORS.has(name)).toBe(true);
      }
    });
  }

  it('the table lists every operator', () => {
    expect([...OPERATORS.keys()].join(' ')).toBe(
      'eq ne gt gte lt lte between in nin contains ncontains startsWith endsWith icontains incontains istartsWith iendsWith like matches ' +
        'exists isNull empty has hasAny hasAll subsetOf before after withinLast withinNext timeOfDayBetween dayOfWeekIn cidr ncidr',
    );
  });
});

const NOW = Date.parse('2026-01-31T12:00:00Z');

const NEW_YORK = { timeZone: 'America/New_York' };

/** Operator, left side, right side, result, and parts of the context that differ from the default. */
const ANSWERS: readonly (readonly [string, Json | undefined, Json, Truth, Partial<ComparisonContext>?])[] = [
  ['eq', null, null, true],
  ['eq', null, 'x', false],
  ['ne', 'x', null, true],
  ['eq', null, {}, null],
  ['eq', ['a'], ['a'], null],
  ['ne', undefined, 'x', null],
  ['in', null, [null], true],
  ['in', 'a', ['a', {}], true],
  ['in', 'b', ['a', {}], null],
  ['nin', 'b', ['a', {}], null],
  ['in', 'a', 'a', null],
  ['gt', true, false, null],
  ['gt', null, 1, null],
  ['between', 5, [6, 'x'], false, { kind: 'number' }],
  ['contains', 'abc', 'b', null, { kind: 'number' }],
  ['has', [null, 'a'], 'a', true],
  ['has', [1, 'a'], 'b', null],
  ['has', 'abc', 'a', null],
  ['hasAll', ['a', 'b'], ['a', 'c'], false],
  ['subsetOf', [1], ['a'], null],
  ['empty', {}, true, null],
  ['empty', null, true, null],
  ['exists', null, true, true],
  ['exists', undefined, 'yes', null],
  ['before', '2026-01-31', '2026-02-01T00:00:00Z', null],
  ['withinLast', '2026-01-31T12:00:00.001Z', '1h', false],
  ['withinNext', '2026-01-31T12:00:00.000Z', '999999999w', true],
  ['timeOfDayBetween', '2026-01-31T21:59:59.999Z', ['22:00', '06:00'], false],
  ['timeOfDayBetween', '2026-01-31T22:00:00.000Z', ['22:00', '06:00'], true],
  ['timeOfDayBetween', '2026-01-31T06:00:00.000Z', ['22:00', '06:00'], false],
  ['timeOfDayBetween', '2026-01-31T08:00:00.000Z', ['09:00', '17:00'], true, { timeZone: 'Europe/Athens' }],
  ['timeOfDayBetween', '2026-01-31T16:59:59.999Z', ['09:00', '17:00'], true],
  ['timeOfDayBetween', '1969-12-31T23:59:59.999Z', ['23:59:59', '00:00'], true],
  ['dayOfWeekIn', '2026-01-31T23:30:00.000Z', [7], true, { timeZone: 'Europe/Athens' }],
  ['dayOfWeekIn', '2026-01-31', [7], false, { kind: 'date', timeZone: 'Europe/Athens' }],
  ['cidr', '10.1.2.3', ['nonsense', '10.0.0.0/8'], true],
  ['cidr', '11.1.2.3', ['nonsense', '10.0.0.0/8'], null],
  ['ncidr', '11.1.2.3', '10.0.0.0/8', true],
  ['cidr', '::ffff:a01:203', '10.0.0.0/8', true],
  ['cidr', '10.1.2.3', '::ffff:10.0.0.0/104', true],
  ['cidr', '10.1.2.3', '::/0', false],
  ['cidr', '10.1.2.3', '10.1.2.3', true],
  ['cidr', '10.1.2.3', '10.9.9.9/8', true],
  ['cidr', '010.1.2.3', '10.0.0.0/8', null],
  ['cidr', '0x0a.1.2.3', '10.0.0.0/8', null],
  ['cidr', 'fe80::1%eth0', 'fe80::/10', null],
  ['cidr', '10.1.2.3', '10.0.0.0/-1', null],
  ['cidr', '10.1.2.3', '0.0.0.0/0', true],
  ['cidr', '::10.1.2.3', '10.0.0.0/8', false],
  ['cidr', '::10.1.2.3', '::a01:203', true],
  ['cidr', '10.1', '::/0', null],
  ['cidr', '1:2:3:4:5:6:7:1.2.3.4', '::/0', null],
  ['cidr', 'fe80::1.2.3.4%eth0', 'fe80::/10', null],
  ['cidr', '::ffff:010.1.2.3', '10.0.0.0/8', null],
  ['cidr', '::ffff:10.1.2.3', '::ffff:0:0/96', true],
  ['cidr', '10.1.2.3', '::ffff:10.0.0.0/95', null],
  ['cidr', '64:ff9b::10.1.2.3', '10.0.0.0/8', false],
  ['cidr', '64:ff9b::10.1.2.3', '64:ff9b::/96', true],
  ['cidr', '::ffff:10.1.2.3', '::/0', false],
  ['cidr', '2001:db8::1', '::/0', true],
  ['cidr', '2001:db8::1', '0.0.0.0/0', false],
  ['cidr', '10.1.2.3', '10.0.0.0/08', null],
  ['cidr', '10.1.2.3', [], false],
  ['cidr', ' 10.1.2.3', '10.0.0.0/8', null],
  // 2026-03-08 has no hour from 2 to 3 in New York, 2026-11-01 has the one from 1 to 2 twice.
  ['timeOfDayBetween', '2026-03-08T06:59:59.999Z', ['01:00', '02:00'], true, NEW_YORK],
  ['timeOfDayBetween', '2026-03-08T07:00:00.000Z', ['02:00', '03:00'], false, NEW_YORK],
  ['timeOfDayBetween', '2026-03-08T07:00:00.000Z', ['03:00', '04:00'], true, NEW_YORK],
  ['timeOfDayBetween', '2026-11-01T05:30:00.000Z', ['01:00', '02:00'], true, NEW_YORK],
  ['timeOfDayBetween', '2026-11-01T06:30:00.000Z', ['01:00', '02:00'], true, NEW_YORK],
  ['timeOfDayBetween', '2026-11-01T07:00:00.000Z', ['01:00', '02:00'], false, NEW_YORK],
  ['timeOfDayBetween', '2026-03-08T02:00:00.000Z', ['21:00', '03:30'], true, NEW_YORK],
  ['timeOfDayBetween', '2026-01-31T06:14:59.999Z', ['00:00', '12:00'], true, { timeZone: 'Asia/Kathmandu' }],
  ['timeOfDayBetween', '2026-01-31T06:15:00.000Z', ['00:00', '12:00'], false, { timeZone: 'Asia/Kathmandu' }],
  ['timeOfDayBetween', '2026-01-31T00:00:00.000Z', ['22:00', '00:00'], false],
  ['timeOfDayBetween', '2026-01-31T09:00:00.000Z', ['09:00', '09:00'], false],
  ['dayOfWeekIn', '2026-03-08T04:59:59.999Z', [6], true, NEW_YORK],
  ['dayOfWeekIn', '2026-03-09T03:59:59.999Z', [7], true, NEW_YORK],
  ['dayOfWeekIn', '2026-01-31T10:00:00Z', [], false],
  ['between', 5, [10, 1], false],
  ['between', 5, [5, 5], true],
  ['between', 5, [1, null], null],
  ['withinLast', '2026-01-24T12:00:00.000Z', 'P1W', true],
  ['withinLast', '2026-01-24T11:59:59.999Z', '1w', false],
  ['withinLast', '2026-01-30T11:00:00.000Z', 'P1DT1H', true],
  ['withinLast', '2026-01-31T12:00:00.000Z', '0s', true],
  ['withinNext', '2026-01-31T12:00:00.000Z', '-1h', null],
  ['like', '', '*', true],
  ['like', 'anything', '**', true],
  ['like', '', '?', false],
  ['like', 'a', '', false],
  ['like', 'a\nb', 'a*b', true],
  ['icontains', 'İ', 'i\u0307', true],
  ['icontains', 'ISTANBUL', 'ıstanbul', false],
  ['icontains', 'straße', 'SS', true],
  ['icontains', 'ΟΔΟΣ', 'ος', true],
  ['iendsWith', 'ΣΑΣ', 'σας', true],
  ['istartsWith', 'ﬁx', 'FI', true],
  ['startsWith', '😀', '\ud83d', false],
  ['has', [1, null], null, true],
  ['has', [1], null, false],
  ['hasAny', [null, 'a'], ['b'], false],
  ['hasAll', ['a', null], ['a', null], true],
  ['subsetOf', [null], ['a'], false],
  ['subsetOf', [null, 'a'], [null, 'a'], true],
  ['in', null, ['a'], false],
  ['nin', null, ['a'], true],
  ['in', 'a', [null], false],
  ['eq', -0, 0, true],
  ['in', 0, [-0], true],
  ['has', [-0], 0, true],
  ['gt', 0, -0, false],
  ['eq', 2 ** 53, 2 ** 53 - 1, false],
  ['lt', 2 ** 53 - 1, 2 ** 53, true],
  // JavaScript rounds these numbers to one; decimals are exact.
  ['eq', 2 ** 53, 2 ** 53 + 1, true],
  ['eq', '9007199254740993', 2 ** 53, false, { kind: 'decimal' }],
  ['matches', 'a\nb', '^b$', false],
  ['like', '[a]', '[a]', true],
];

describe('operators', () => {
  for (const [name, actual, expected, result, partial] of ANSWERS) {
    it(`evaluates ${JSON.stringify(actual)} ${name} ${JSON.stringify(expected)} to ${result}`, () => {
      const context = { now: NOW, timeZone: 'UTC', ...partial };
      expect(OPERATORS.get(name)?.evaluate(actual, expected, context)).toBe(result);
    });
  }

  it('inherited names find no operator', () => {
    for (const name of ['constructor', '__proto__', 'toString']) expect(OPERATORS.get(name)).toBeUndefined();
  });

  it('rejects two equal times of day', () => {
    const check = (expected: Json) => OPERATORS.get('timeOfDayBetween')?.validateOperand(expected, {});
    expect(check(['09:00', '09:00:00'])).toMatch(/two different times of day.*"09:00" twice/);
    expect(check(['22:00', '00:00'])).toBeUndefined();
  });

  it('operators never throw an error', () => {
    const values: readonly (Json | undefined)[] = [undefined, null, '', 'x', '\ud800', 0, Number.NaN, true, [], [null], ['['], {}, [[]]];
    const kinds: readonly (Kind | undefined)[] = [undefined, 'text', 'number', 'decimal', 'boolean', 'date', 'timestamp', 'list', 'json'];
    for (const operator of OPERATORS.values()) {
      for (const kind of kinds) {
        for (const actual of values) {
          for (const expected of values) {
            const context = { kind, itemKind: kind, now: NOW, timeZone: 'UTC' };
            expect([true, false, null]).toContain(operator.evaluate(actual, expected ?? null, context));
            operator.validateOperand(expected ?? null, context);
          }
        }
      }
    }
  });
});

describe('a part searched for in a text', () => {
  const context = { comparison: { kind: 'text', now: NOW, timeZone: 'UTC' }, dialect: {} as SqlDialect } as const;
  const column: SqlColumn = { sql: sql.raw('"title"'), kind: 'text', encode: (value) => value };

  it.each(['contains', 'ncontains', 'icontains', 'incontains', 'like'])('limits the length of the text that %s searches for', (name) => {
    const operator = OPERATORS.get(name);
    const [longest, longer] = ['a'.repeat(1000), 'a'.repeat(1001)];
    expect([operator?.validateOperand(longest, {}), operator?.validateOperand(longer, {})]).toEqual([
      undefined,
      expect.stringMatching(/1000 characters.*1001/),
    ]);
    // Too long to search: unknown instead of false, for the negation too.
    expect(operator?.evaluate(longer, longer, context.comparison)).toBe(null);
    const isNegation = name.includes('ncont');
    if (!isNegation) expect(operator?.compileSql(column, longer, context)).toBe(SQL_UNKNOWN);
    expect(operator?.evaluate(longest, longest, context.comparison)).toBe(!isNegation);
  });

  it('evaluates a long pattern in memory', () => {
    expect(OPERATORS.get('like')?.compileSql(column, '*a'.repeat(51), context)).toBe(IN_MEMORY);
  });
});

describe('patterns', () => {
  it('matches patterns in linear time', () => {
    expect(matchesPattern('a'.repeat(10_000), '^(a+)+$x')).toBe(false);
    // Above the limit of steps: undefined instead of false.
    expect(matchesPattern('a'.repeat(200_000), '(a|b){100}c')).toBeUndefined();
  });

  it('limits the steps of each match, independent of other matches', () => {
    const match = (length: number) => OPERATORS.get('matches')?.evaluate('a'.repeat(length), '(a|b){100}c', { now: 0, timeZone: 'UTC' });
    expect([match(500), match(500), match(1000), match(500)]).toEqual([false, false, null, false]);
  });

  it('limits patterns in length and in repetition', () => {
    expect(validatePattern('a'.repeat(1001))).toMatch(/at most 1000 characters/);
    expect(validatePattern('(a{1000}){1000}')).toMatch(/RE2/);
    expect(validatePattern('(\\pL{900})'.repeat(20))).toMatch(/repeats/);
    expect(validatePattern('^a$')).toBeUndefined();
  });
});
