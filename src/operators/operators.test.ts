import { describe, expect, it } from 'vitest';
import { checkPattern, type Frame, type Json, type Kind, matchesPattern, OPERATORS, type Truth } from './index.ts';

const NOW = Date.parse('2026-01-31T12:00:00Z');

/** Operator, left side, right side, answer, and the frame where it is not the usual. */
const ANSWERS: readonly (readonly [string, Json | undefined, Json, Truth, Partial<Frame>?])[] = [
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
  ['matches', 'a\nb', '^b$', false],
  ['like', '[a]', '[a]', true],
];

describe('operators', () => {
  for (const [name, actual, expected, answer, frame] of ANSWERS) {
    it(`${JSON.stringify(actual)} ${name} ${JSON.stringify(expected)} is ${answer}`, () => {
      const frameOfTest = { now: NOW, timeZone: 'UTC', ...frame };
      expect(OPERATORS.get(name)?.matches(actual, expected, frameOfTest)).toBe(answer);
    });
  }

  it('are not found by inherited names', () => {
    for (const name of ['constructor', '__proto__', 'toString']) expect(OPERATORS.get(name)).toBeUndefined();
  });

  it('never throw, whatever meets whatever', () => {
    const values: readonly (Json | undefined)[] = [undefined, null, '', 'x', '\ud800', 0, Number.NaN, true, [], [null], ['['], {}, [[]]];
    const kinds: readonly (Kind | undefined)[] = [undefined, 'text', 'number', 'decimal', 'boolean', 'date', 'timestamp', 'list', 'json'];
    for (const operator of OPERATORS.values()) {
      for (const kind of kinds) {
        for (const actual of values) {
          for (const expected of values) {
            const frame = { kind, itemKind: kind, now: NOW, timeZone: 'UTC' };
            expect([true, false, null]).toContain(operator.matches(actual, expected ?? null, frame));
            operator.checkOperand(expected ?? null, frame);
          }
        }
      }
    }
  });
});

describe('patterns', () => {
  it('take time in proportion to the text', () => {
    expect(matchesPattern('a'.repeat(20_000), '^(a+)+$x')).toBe(false);
    // Linear is long, too, where both are: not false, for nobody has looked.
    expect(matchesPattern('a'.repeat(200_000), '(a|b){100}c')).toBeUndefined();
  });

  it('are bounded in length and in what they repeat', () => {
    expect(checkPattern('a'.repeat(1001))).toMatch(/at most 1000 characters/);
    expect(checkPattern('(a{1000}){1000}')).toMatch(/RE2/);
    expect(checkPattern('(\\pL{900})'.repeat(20))).toBe('the pattern repeats too much');
    expect(checkPattern('^a$')).toBeUndefined();
  });
});
