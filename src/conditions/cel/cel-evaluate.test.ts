import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, ownValue, type Truth } from '../../operators/index.ts';
import type { PathKind } from '../condition.ts';
import type { ConditionParserOptions } from '../condition-parser.ts';
import { parseConditions } from '../parse-condition.ts';
import { evaluate } from '../partial-evaluation.ts';
import { SMALL_LIMITS } from '../small-limits.fixture.ts';

const KINDS: ReadonlyMap<string, PathKind> = new Map<string, PathKind>([
  ['user.count', { kind: 'number', whole: true }],
  ['user.counts', { kind: 'list', itemKind: 'number', whole: true }],
]);

const READER: ConditionParserOptions = {
  at: 'at',
  expressions: true,
  limits: SMALL_LIMITS,
};

/** Numbers of integer fields are ints, other numbers are doubles, and texts are compared with timestamps as timestamps. */
const ANSWERS: readonly (readonly [string, JsonObject, Truth])[] = [
  ['user.claim + 1 == 2', { claim: 1 }, true],
  ['1 / user.claim == 0.5', { claim: 2 }, true],
  ['user.claim % 2 == 1', { claim: 1 }, null],
  ['user.count % 2 == 1', { count: 7 }, true],
  ['user.count % 2 == -1', { count: -7 }, true],
  ['user.count % 2 == 1', { count: 1.5 }, null],
  ['user.count / 2 == 3', { count: 7 }, true],
  ['user.count / 2.0 == 3.5', { count: 7 }, true],
  ['user.count + user.count == 18014398509481982', { count: 2 ** 53 - 1 }, true],
  ['user.count * 9007199254740991 > 0', { count: 2 ** 53 - 1 }, null],
  ['user.counts.exists(c, c % 2 == 0)', { counts: [1, 2] }, true],
  ['string(user.count) + "!" == "7!"', { count: 7 }, true],
  ['timestamp(user.count) == timestamp("1970-01-01T00:00:07Z")', { count: 7 }, true],
  ['user.teams[user.count] == "b"', { teams: ['a', 'b'], count: 1 }, true],
  ['user.claim > timestamp("2026-01-31T00:00:00Z")', { claim: '2026-01-31T01:00:00+00:30' }, true],
  ['timestamp("2026-01-31T00:00:00Z") >= user.claim', { claim: '2026-01-31T01:00:00+00:30' }, false],
  ['user.claim == timestamp("2026-01-31T00:00:00Z")', { claim: '2026-01-31T01:00:00+01:00' }, true],
  ['user.claim != timestamp("2026-01-31T00:00:00Z")', { claim: '2026-02-30T00:00:00Z' }, null],
  ['user.claim != timestamp("2026-01-31T00:00:00Z")', { claim: 5 }, null],
  ['timestamp("2026-01-31T00:00:00Z") in [user.claim]', { claim: '2026-01-31T00:00:00.000Z' }, true],
  ['user.claim.getHours() == 1', { claim: '2026-01-31T01:00:00Z' }, true],
  ['user.claim.getHours("+01:00") == 2', { claim: '2026-01-31T01:00:00Z' }, true],
  ['user.claim.getHours() == 1', { claim: 'soon' }, null],
  ['user.claim - user.other == duration("1h")', { claim: '2026-01-31T01:00:00Z', other: '2026-01-31T00:00:00Z' }, true],
  ['user.claim + duration("1h") > timestamp("2026-01-31T01:30:00Z")', { claim: '2026-01-31T01:00:00Z' }, true],
  ['duration("1h") + user.claim < timestamp("2026-01-31T01:30:00Z") - duration("0")', { claim: '2026-01-31T01:00:00Z' }, false],
  ['user.claim - duration("1h") == timestamp("2026-01-31T00:00:00Z")', { claim: '2026-01-31T01:00:00Z' }, true],
  ['timestamp("2026-01-31T00:00:00Z") - user.claim < duration("0s")', { claim: '2026-01-31T01:00:00Z' }, true],
];

describe('values in expressions', () => {
  it.each(ANSWERS)('evaluates %s with %j to %s', (expression, user, answer) => {
    const { condition, issues } = parseConditions([{ expression }], READER);
    expect(issues).toEqual([]);
    expect(
      evaluate(condition, {
        now: 0,
        timeZone: 'UTC',
        valueOf: ({ keys }) => keys.reduce<Json | undefined>((value, key) => ownValue(value, key), user),
        kindOf: ({ text }) => KINDS.get(text),
      }),
    ).toBe(answer);
  });
});
