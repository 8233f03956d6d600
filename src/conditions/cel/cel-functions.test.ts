import { describe, expect, it } from 'vitest';
import { CONVERSIONS, CONVERSIONS_OF_VALUES, CONVERSIONS_REFUSED } from '../../../test/reference/cel-conversions.ts';
import type { Truth } from '../../operators/index.ts';
import type { Scope } from '../condition.ts';
import type { ConditionParserOptions } from '../condition-parser.ts';
import { parseConditions } from '../parse-condition.ts';
import { evaluate } from '../partial-evaluation.ts';
import { SMALL_LIMITS } from '../small-limits.fixture.ts';

const READER: ConditionParserOptions = {
  at: 'at',
  expressions: true,
  limits: { ...SMALL_LIMITS, expressionLength: 400 },
};

describe('conversions of expressions', () => {
  for (const { expression, valid, others = [], invalid } of CONVERSIONS) {
    it(`${expression} converts every valid text`, () => {
      expect(answersOf(expression, valid)).toEqual(valid.map((text) => [text, true]));
      expect(answersOf(expression, others)).toEqual(others.map((text) => [text, false]));
    });

    it(`${expression} is unknown for every other text`, () => {
      expect(answersOf(expression, invalid)).toEqual(invalid.map((text) => [text, null]));
      expect(answersOf(`!(${expression})`, invalid)).toEqual(invalid.map((text) => [text, null]));
    });
  }

  it.each(CONVERSIONS_OF_VALUES)('evaluates %s to %s', (expression, answer) => expect(answerOf(expression, '')).toBe(answer));

  it.each(CONVERSIONS_REFUSED)('rejects the unknown function of %s', (expression) => {
    expect(parseConditions([{ expression }], READER).issues.map(({ detail }) => detail)).toEqual([
      expect.stringContaining(`unknown function "${expression.split('(')[0]}"`),
    ]);
  });

  it('limits the effort of converting long texts and many time zones', () => {
    for (const name of ['int', 'double']) {
      expect(answerOf(`${name}(TEXT) == ${name}("11")`, `${'0'.repeat(1_000_000)}11`)).toBe(true);
      expect(answerOf(`${name}(TEXT) == ${name}("11")`, '1'.repeat(1_000_000))).toBe(null);
    }
    const zones = Array.from({ length: 10_000 }, (_, index) => (index < 9999 ? `Nowhere/${index}` : '+01:00'));
    const looped = 'user.zones.exists(z, timestamp("2024-01-01T00:00:00Z").getHours(z) == 1)';
    expect(evaluate(parseConditions([{ expression: looped }], READER).condition, scopeOf(zones))).toBe(null);
  });
});

function answersOf(expression: string, texts: readonly string[]): readonly (readonly [string, Truth])[] {
  return texts.map((text) => [text, answerOf(expression, text)]);
}

function answerOf(expression: string, text: string): Truth {
  const { condition, issues } = parseConditions([{ expression: expression.replace('TEXT', 'user.text') }], READER);
  expect(issues).toEqual([]);
  return evaluate(condition, scopeOf(text));
}

function scopeOf(value: string | readonly string[]): Scope {
  return { now: 0, timeZone: 'UTC', valueOf: () => value, kindOf: () => undefined };
}
