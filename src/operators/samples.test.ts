import { describe, expect, it } from 'vitest';
import type { Frame } from './operator.ts';
import { OPERATORS } from './operator-table.ts';

const frame: Frame = { now: Date.parse('2026-01-31T12:00:00Z'), timeZone: 'UTC' };

describe('operators in memory', () => {
  for (const operator of OPERATORS.values()) {
    describe(operator.name, () => {
      it('answers its samples', () => {
        for (const { actual, expected, kind, itemKind, answer } of operator.samples) {
          expect([actual, expected, operator.matches(actual, expected, { ...frame, kind, itemKind })]).toEqual([actual, expected, answer]);
        }
      });

      it('shows more than one answer in its samples', () => {
        expect(new Set(operator.samples.map((sample) => sample.answer)).size).toBeGreaterThan(1);
      });

      it('accepts the operands of its samples that hold', () => {
        for (const { expected, kind, itemKind, answer } of operator.samples) {
          if (answer === true) expect([expected, operator.checkOperand(expected, { kind, itemKind })]).toEqual([expected, undefined]);
        }
      });

      it('names operators that exist', () => {
        for (const name of [operator.negation, operator.mirror, ...(operator.itemwise?.operators ?? [])]) {
          if (name !== undefined) expect(OPERATORS.has(name)).toBe(true);
        }
      });
    });
  }

  it('says every operator that policies may name', () => {
    expect([...OPERATORS.keys()].join(' ')).toBe(
      'eq ne gt gte lt lte between in nin contains ncontains startsWith endsWith icontains incontains istartsWith iendsWith like matches ' +
        'exists isNull empty has hasAny hasAll subsetOf before after withinLast withinNext timeOfDayBetween dayOfWeekIn cidr ncidr',
    );
  });
});
