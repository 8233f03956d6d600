import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, ownValue } from '../../operators/index.ts';
import type { Scope } from '../condition.ts';
import type { ConditionParserOptions } from '../condition-parser.ts';
import { parseConditions } from '../parse-condition.ts';
import { evaluate } from '../partial-evaluation.ts';
import { SMALL_LIMITS } from '../small-limits.fixture.ts';

/** Expressions that are rejected even with the largest limits. */
const HUGE: readonly (readonly [string, RegExp])[] = [
  ['('.repeat(50_000), /at most 100 levels of brackets/],
  [`${'('.repeat(10_000)}1${')'.repeat(10_000)}`, /at most 100 levels of brackets/],
  ['[{'.repeat(10_000), /at most 100 levels of brackets/],
  ['(")"+'.repeat(10_000), /at most 100 levels of brackets/],
  ["[r'\\'+']',".repeat(10_000), /at most 100 levels of brackets/],
  ['!'.repeat(50_000), /expected a CEL expression/],
  [`${'a.'.repeat(50_000)}a`, /less nesting/],
  [`user.id == "${'a'.repeat(1_000_000)}"`, /at most 200000 characters/],
  [`${'1+'.repeat(50)}1 == 51`, /at most 32 levels/],
];

/** Limits above those of any configuration. */
const READER: ConditionParserOptions = {
  at: 'at',
  expressions: true,
  limits: { ...SMALL_LIMITS, expressionLength: 200_000, expressionDepth: 32 },
};

describe('limits of expressions', () => {
  for (const [source, words] of HUGE) {
    it(`refuses ${source.length} characters of ${source.slice(0, 6)}…`, () => {
      const { issues } = read(source);
      expect(issues.map(({ detail }) => detail)).toEqual([expect.stringMatching(words)]);
    });
  }

  it('limits the effort of evaluation', () => {
    const items = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `item ${index + from}`);
    const everyOne = read('user.some.all(item, item in user.others)').condition;
    const other = read('user.some.exists(item, item != "x") && user.text.contains("y")').condition;
    expect(evaluate(everyOne, scopeOf({ some: items(100), others: items(1000) }))).toBe(true);
    expect(evaluate(everyOne, scopeOf({ some: items(10_000), others: items(10_000) }))).toBe(null);
    expect(evaluate(other, scopeOf({ some: items(10_000), text: 'xy' }))).toBe(true);
    expect(evaluate(other, scopeOf({ some: items(10_001), text: 'xy' }))).toBe(null);
    // Each evaluation has its own limit.
    expect(evaluate(everyOne, scopeOf({ some: items(100), others: items(1000) }))).toBe(true);
  });

  it('limits the steps of all patterns of one evaluation', () => {
    const pattern = read('user.some.exists(item, user.text.matches(item))').condition;
    const long = Array.from({ length: 10 }, () => '(a|b){100}c');
    const one = scopeOf({ some: long.slice(0, 1), text: 'a'.repeat(500) });
    expect(evaluate(pattern, scopeOf({ some: ['b', '(a+)+$'], text: 'a'.repeat(100) }))).toBe(true);
    expect(evaluate(pattern, scopeOf({ some: long, text: 'a'.repeat(500) }))).toBe(null);
    expect([evaluate(pattern, one), evaluate(pattern, one)]).toEqual([false, false]);
  });

  it.each([
    ['joined', `(${Array(20).fill('item').join(' + ')}) != "x"`],
    ['compared', Array(20).fill('item == item').join(' && ')],
    ['searched', Array(20).fill('!item.contains("x")').join(' && ')],
    ['measured', Array(20).fill('size(item) + item.size() > 0').join(' && ')],
    ['read as a number', Array(20).fill('int(item) == 0').join(' && ')],
  ])('counts the effort of functions of list items that are %s', (_, what) => {
    const { condition, issues } = read(`user.some.all(item, ${what})`);
    expect(issues).toEqual([]);
    const texts = (count: number, length: number) => Array.from({ length: count }, () => '0'.repeat(length));
    expect(evaluate(condition, scopeOf({ some: texts(100, 18) }))).toBe(true);
    expect(evaluate(condition, scopeOf({ some: texts(1000, 1000) }))).toBe(null);
  });

  it('accepts a text with more brackets than levels', () => {
    expect(read(`user.id == "${'('.repeat(1000)}"`).issues).toEqual([]);
  });

  it('accepts a thousand operands of one &&', () => {
    const parts = Array.from({ length: 1000 }, (_, index) => `user.level != ${index}.0`);
    const { condition, issues } = read(parts.join(' && '));
    expect(issues).toEqual([]);
    expect([1000, 999].map((level) => evaluate(condition, scopeOf({ level })))).toEqual([true, false]);
  });
});

function read(source: string): ReturnType<typeof parseConditions> {
  return parseConditions([{ expression: source }], READER);
}

function scopeOf(user: JsonObject): Scope {
  return {
    now: 0,
    timeZone: 'UTC',
    valueOf: ({ keys }) => keys.reduce<Json | undefined>((value, key) => ownValue(value, key), user),
    kindOf: () => undefined,
  };
}
