import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../../../test/budget.ts';
import { type Json, type JsonObject, ownValue } from '../../operators/index.ts';
import { type Condition, type PathKind, type Scope, UNRESOLVED } from '../condition.ts';
import type { ConditionParserOptions } from '../condition-parser.ts';
import { printCondition } from '../explain-condition.ts';
import { parseConditions } from '../parse-condition.ts';
import { evaluate, partiallyEvaluate } from '../partial-evaluation.ts';
import { SMALL_LIMITS } from '../small-limits.fixture.ts';

const KINDS: ReadonlyMap<string, PathKind> = new Map<string, PathKind>([
  ['resource.team', { kind: 'text' }],
  ['resource.level', { kind: 'number' }],
  ['resource.count', { kind: 'number', whole: true }],
  ['resource.at', { kind: 'timestamp' }],
  ['resource.until', { kind: 'timestamp' }],
  ['resource.open', { kind: 'boolean' }],
  ['resource.tags', { kind: 'list', itemKind: 'text' }],
  ['resource.counts', { kind: 'list', itemKind: 'number', whole: true }],
  ['user.level', { kind: 'number' }],
  ['user.count', { kind: 'number', whole: true }],
]);

/** Expressions, their conditions, and the residual conditions for the user below with an unresolved record. */
const LOWERED: readonly (readonly [expression: string, condition: string, left: string])[] = [
  ['resource.count > 1 + 2', 'resource.count gt 3', 'resource.count gt 3'],
  ['10 / 4 <= resource.level', 'resource.level gte 2', 'resource.level gte 2'],
  [
    'resource.level >= 9007199254740993',
    'expression "resource.level >= 9007199254740993"',
    'expression "resource.level >= 9007199254740993"',
  ],
  ['resource.count <= 9007199254740993', 'resource.count lte 9007199254740992', 'resource.count lte 9007199254740992'],
  ['resource.team == "re" + "d"', 'resource.team eq "red"', 'resource.team eq "red"'],
  [
    'resource.at > timestamp("2026-01-31T01:00:00+01:00")',
    'resource.at gt "2026-01-31T00:00:00.000Z"',
    'resource.at gt "2026-01-31T00:00:00.000Z"',
  ],
  [
    'timestamp("2026-01-31T00:00:00Z") == timestamp(resource.at)',
    'resource.at eq "2026-01-31T00:00:00.000Z"',
    'resource.at eq "2026-01-31T00:00:00.000Z"',
  ],
  ['timestamp(resource.at) < timestamp(resource.until)', `resource.at lt \${resource.until}`, `resource.at lt \${resource.until}`],
  [
    'resource.at < timestamp(user.since) + duration("1h")',
    'resource.at lt (timestamp(user.since) + duration("1h"))',
    'resource.at lt "2026-01-31T01:00:00.000Z"',
  ],
  ['double(resource.count) >= user.level + 1', 'resource.count gte (user.level + 1)', 'resource.count gte 3.5'],
  ['resource.count < user.count / 2', 'resource.count lt (user.count / 2)', 'resource.count lt 3'],
  ['resource.count < (user.active ? 10 : 5)', 'resource.count lt (user.active ? 10 : 5)', 'resource.count lt 10'],
  ['resource.team.startsWith(user.prefix + "-")', 'resource.team startsWith (user.prefix + "-")', 'resource.team startsWith "re-"'],
  ['resource.team in user.teams.map(t, t + "s")', 'resource.team in (user.teams.map(t, t + "s"))', 'resource.team in ["reds", "blues"]'],
  ['user.prefix + "d" in resource.tags', 'resource.tags has (user.prefix + "d")', 'resource.tags has "red"'],
  ['resource.team < user.nothing + "x"', 'resource.team lt (user.nothing + "x")', 'unknown'],
  ['size(resource.tags) > 0', 'resource.tags empty false', 'resource.tags empty false'],
  ['resource.tags.size() >= 1', 'resource.tags empty false', 'resource.tags empty false'],
  ['0 != size(resource.tags)', 'resource.tags empty false', 'resource.tags empty false'],
  ['size(resource.team) == 0', 'resource.team empty true', 'resource.team empty true'],
  ['1.0 > size(resource.tags)', 'resource.tags empty true', 'resource.tags empty true'],
  ['size(resource.tags) <= 0', 'resource.tags empty true', 'resource.tags empty true'],
  [
    'user.active ? resource.open : resource.count == 1',
    '((user.active eq true or (user.active eq null and unknown)) and resource.open eq true) or (not (user.active eq true or (user.active eq null and unknown)) and resource.count eq 1) or ((user.active eq true or (user.active eq null and unknown)) and not (user.active eq true or (user.active eq null and unknown)))',
    'resource.open eq true',
  ],
  [
    'resource.open ? user.active : resource.team == user.prefix',
    `(resource.open eq true and (user.active eq true or (user.active eq null and unknown))) or (not resource.open eq true and resource.team eq \${user.prefix}) or (resource.open eq true and not resource.open eq true)`,
    'resource.open eq true or (not resource.open eq true and resource.team eq "re") or (resource.open eq true and not resource.open eq true)',
  ],
  [
    'user.teams.exists(t, t == resource.team)',
    'expression "size(user.teams) > 0" and resource.team in (user.teams)',
    'resource.team in ["red", "blue"]',
  ],
  [
    'user.teams.exists(t, resource.team == t + "s")',
    '(expression "size(user.teams) > 0" and resource.team in (user.teams.map(t, t + "s"))) or expression "size(user.teams.map(t, t + \\"s\\")) < 0"',
    'resource.team in ["reds", "blues"]',
  ],
  [
    'user.grants.exists(g, g.team == resource.team)',
    '(expression "size(user.grants) > 0" and resource.team in (user.grants.map(g, g.team))) or expression "size(user.grants.map(g, g.team)) < 0"',
    'resource.team in ["red"] or unknown',
  ],
  [
    'user.grants.all(g, g.team != resource.team)',
    '(not expression "size(user.grants) > 0" or resource.team nin (user.grants.map(g, g.team))) and not expression "size(user.grants.map(g, g.team)) < 0"',
    'resource.team nin ["red"] and unknown',
  ],
  [
    'user.grants.exists(g, g.team in resource.tags)',
    '(expression "size(user.grants) > 0" and resource.tags hasAny (user.grants.map(g, g.team))) or expression "size(user.grants.map(g, g.team)) < 0"',
    'resource.tags hasAny ["red"] or unknown',
  ],
  [
    'user.grants.all(g, g.team in resource.tags)',
    '(not expression "size(user.grants) > 0" or resource.tags hasAll (user.grants.map(g, g.team))) and not expression "size(user.grants.map(g, g.team)) < 0"',
    'resource.tags hasAll ["red"] and unknown',
  ],
  [
    'user.teams.all(t, t != resource.team)',
    'not expression "size(user.teams) > 0" or resource.team nin (user.teams)',
    'resource.team nin ["red", "blue"]',
  ],
  [
    'user.teams.exists(t, t in resource.tags)',
    'expression "size(user.teams) > 0" and resource.tags hasAny (user.teams)',
    'resource.tags hasAny ["red", "blue"]',
  ],
  [
    'user.teams.all(t, t in resource.tags)',
    'not expression "size(user.teams) > 0" or resource.tags hasAll (user.teams)',
    'resource.tags hasAll ["red", "blue"]',
  ],
  [
    '["a", "b"].exists(t, t == resource.team)',
    'expression "size([\\"a\\", \\"b\\"]) > 0" and resource.team in (["a", "b"])',
    'resource.team in ["a", "b"]',
  ],
  ['resource.tags.exists(t, t == "red")', 'resource.tags has "red"', 'resource.tags has "red"'],
  ['resource.tags.all(t, t != "red")', 'not resource.tags has "red"', 'not resource.tags has "red"'],
  ['resource.tags.all(t, t in ["red", "blue"])', 'resource.tags subsetOf ["red", "blue"]', 'resource.tags subsetOf ["red", "blue"]'],
  [
    'resource.tags.exists(t, t == user.prefix)',
    `not resource.tags empty true and resource.tags has \${user.prefix}`,
    'not resource.tags empty true and resource.tags has "re"',
  ],
  [
    'resource.tags.exists(t, user.prefix + "d" == t)',
    'not resource.tags empty true and resource.tags has (user.prefix + "d")',
    'not resource.tags empty true and resource.tags has "red"',
  ],
  [
    'resource.tags.exists(t, t in user.teams)',
    `not resource.tags empty true and resource.tags hasAny \${user.teams}`,
    'not resource.tags empty true and resource.tags hasAny ["red", "blue"]',
  ],
  [
    'resource.tags.all(t, t in user.teams)',
    `resource.tags empty true or resource.tags subsetOf \${user.teams}`,
    'resource.tags empty true or resource.tags subsetOf ["red", "blue"]',
  ],
  [
    'resource.tags.all(t, t != user.prefix)',
    `resource.tags empty true or not resource.tags has \${user.prefix}`,
    'resource.tags empty true or not resource.tags has "re"',
  ],
  [
    'resource.counts.exists(c, c == user.count - 1)',
    'not resource.counts empty true and resource.counts has (user.count - 1)',
    'not resource.counts empty true and resource.counts has 5',
  ],
];

const USER: JsonObject = {
  ...{ level: 2.5, count: 6, active: true, prefix: 're', since: '2026-01-31T00:00:00Z' },
  ...{ teams: ['red', 'blue'], grants: [{ team: 'red' }, { level: 1 }] },
};

describe('lowering', () => {
  it.each(LOWERED)('lowers %s, and partially evaluates it with an unresolved record', (expression, condition, left) => {
    expect(read(expression).issues).toEqual([]);
    const lowered = read(expression).condition;
    expect(printCondition(lowered)).toBe(condition);
    expect(printCondition(partiallyEvaluate(lowered, scopeOf(USER, UNRESOLVED)))).toBe(left);
  });

  it('lowered expressions have the results of CEL, with an unresolved and with a known record', () => {
    let known = 0;
    const expressions = LOWERED.map(([expression]) => expression);
    fc.assert(
      fc.property(fc.constantFrom(...expressions), RECORDS, USERS, (expression, record, user) => {
        const lowered = read(expression).condition;
        const answer = evaluate(lowered, scopeOf(user, record));
        expect(evaluate(asCel(expression), scopeOf(user, record))).toBe(answer);
        expect(evaluate(partiallyEvaluate(lowered, scopeOf(user, UNRESOLVED)), scopeOf(user, record))).toBe(answer);
        if (answer !== null) known++;
      }),
      { numRuns: casesOf(1000) },
    );
    expect(known).toBeGreaterThan(casesOf(1000) / 5);
  });

  it.each([
    [4, false],
    [6, true],
    [7, null],
  ])('compares a double exactly with an int if user.count is %d: %s', (count, answer) => {
    const { condition } = read('resource.level == user.count + 9007199254740988');
    const record = { level: 2 ** 53 + 2 };
    expect(evaluate(condition, scopeOf({ count }, record))).toBe(answer);
    expect(evaluate(partiallyEvaluate(condition, scopeOf({ count }, UNRESOLVED)), scopeOf({ count }, record))).toBe(answer);
  });

  it('partially evaluates every expression with an unresolved user', () => {
    for (const [expression] of LOWERED) {
      const { condition } = read(expression);
      const record = {
        team: 'red',
        level: 3,
        count: 2,
        at: '2026-01-30T00:00:00.000Z',
        until: '2026-02-01T00:00:00.000Z',
        open: true,
        tags: ['red'],
        counts: [5],
      };
      const left = partiallyEvaluate(condition, scopeOf(UNRESOLVED, record));
      expect(evaluate(left, scopeOf(USER, record))).toBe(evaluate(condition, scopeOf(USER, record)));
    }
  });
});

/** Keeps every part of an expression in CEL: it is wrapped in a list, which no condition can express. */
function asCel(expression: string): Condition {
  const { condition, issues } = read(`[${expression}][0]`);
  expect([condition.type, issues]).toEqual(['expression', []]);
  return condition;
}

const TEXTS = ['red', 'reds', 're', 're-d', 'blue', 'x', ''];
const INSTANTS = ['2026-01-31T00:00:00.000Z', '2026-01-31T00:30:00.000Z', '2026-01-31T01:00:00.000Z', '2026-01-31T00:00:00.001Z'];
const some = <Value extends Json>(...values: readonly Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values);
const lists = <Value extends Json>(...values: readonly Value[]): fc.Arbitrary<Value[]> => fc.array(some(...values), { maxLength: 3 });

/** Records: values that fit their fields, or are missing. */
const RECORDS: fc.Arbitrary<JsonObject> = fc.record(
  {
    ...{
      team: some(...TEXTS),
      level: some(0, 2, 3.5, 2 ** 53, 2 ** 53 + 2, 1e300),
      count: some(0, 1, 3, 5, 10, 2 ** 53 - 1),
      at: some(...INSTANTS),
    },
    ...{ until: some(...INSTANTS), open: fc.boolean(), tags: lists(...TEXTS), counts: lists(0, 5, 2 ** 53 - 1) },
  },
  { requiredKeys: [] },
);

/** Claims: values of any type. */
const USERS: fc.Arbitrary<JsonObject> = fc.record(
  {
    level: some<Json>(2.5, 0, 1e308, 'x', null),
    count: some<Json>(6, 1, 1.5, 2 ** 53 - 1),
    active: some<Json>(true, false, 'x', null),
    prefix: some<Json>('re', '', 5, null, ['re']),
    since: some<Json>(...INSTANTS, '2026-01-31T01:00:00+01:00', '2026-02-30T00:00:00Z', 5),
    teams: fc.oneof(lists<Json>('red', 'blue', '', 5, null, [], { team: 'red' }), some<Json>('red', '', null, { red: 1 }, {}, 5)),
    grants: lists<Json>({ team: 'red' }, { team: 'blue' }, { team: null }, { team: ['red'] }, {}, 'red', 5),
  },
  { requiredKeys: [] },
);

const READER: ConditionParserOptions = {
  at: 'at',
  expressions: true,
  limits: { ...SMALL_LIMITS, expressionLength: 400, expressionDepth: 32 },
  describePath: ({ text }) => KINDS.get(text) ?? 'any',
};

function read(expression: string): ReturnType<typeof parseConditions> {
  return parseConditions([{ expression }], READER);
}

function scopeOf(user: JsonObject | typeof UNRESOLVED, record: JsonObject | typeof UNRESOLVED): Scope {
  return {
    now: 0,
    timeZone: 'UTC',
    valueOf({ group, keys }) {
      const of = group === 'user' ? user : record;
      return of === UNRESOLVED ? UNRESOLVED : keys.reduce<Json | undefined>((value, key) => ownValue(value, key), of);
    },
    kindOf: ({ text }) => KINDS.get(text),
  };
}
