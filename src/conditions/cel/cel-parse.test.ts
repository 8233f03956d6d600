import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../../../test/budget.ts';
import { type Json, type JsonObject, ownValue, type Truth } from '../../operators/index.ts';
import type { PathKind, Scope } from '../condition.ts';
import type { ConditionParserOptions } from '../condition-parser.ts';
import { conditionPaths } from '../condition-paths.ts';
import { printCondition } from '../explain-condition.ts';
import { parseConditions } from '../parse-condition.ts';
import { evaluate } from '../partial-evaluation.ts';
import { SMALL_LIMITS } from '../small-limits.fixture.ts';

const KINDS: ReadonlyMap<string, PathKind> = new Map<string, PathKind>([
  ['user.id', { kind: 'text' }],
  ['user.role', { kind: 'text' }],
  ['user.level', { kind: 'number' }],
  ['user.active', { kind: 'boolean' }],
  ['user.teams', { kind: 'list', itemKind: 'text' }],
  ['resource.authorId', { kind: 'text' }],
  ['resource.authorId.department', { kind: 'text' }],
  ['resource.at', { kind: 'timestamp' }],
  ['resource.open', { kind: 'boolean' }],
  ['resource.editors', { kind: 'list', itemKind: 'text' }],
]);

const LOWERED: readonly (readonly [string, string])[] = [
  ['user.id == resource.authorId', `user.id eq \${resource.authorId}`],
  ['"u1" == user.id', 'user.id eq "u1"'],
  ['user.level >= 3 && 5 > user.level', 'user.level gte 3 and user.level lt 5'],
  ['!(user.role in ["admin", "editor"])', 'not user.role in ["admin", "editor"]'],
  ['"red" in user.teams || resource.open', 'user.teams has "red" or resource.open eq true'],
  ['user.id in resource.editors', `user.id in \${resource.editors}`],
  ['has(user.claim)', 'user.claim exists true'],
  ['user.id.startsWith("u") && user.id.matches("^u")', 'user.id startsWith "u" and user.id matches "^u"'],
  ['user.claim != "x" || 3 < user.claim', 'user.claim ne "x" or user.claim gt 3'],
  ['user.claim == null', 'user.claim eq null'],
  ['user.claim > -1.5', 'user.claim gt -1.5'],
  ['user.id < "m"', 'user.id lt "m"'],
  ['resource.at >= "2026-01-31T12:00:00+01:00"', 'resource.at gte "2026-01-31T12:00:00+01:00"'],
  ['user.claim in user.other', `user.claim in \${user.other}`],
  ['user.id in ["u1", resource.authorId]', `user.id in ["u1", \${resource.authorId}]`],
  ['"x" in user.claim', 'user.claim has "x"'],
  ['user.id in []', 'user.id in []'],
  ['user.claim.contains(resource.authorId)', `user.claim contains \${resource.authorId}`],
  ['!user.claim', 'not (user.claim eq true or (user.claim eq null and unknown))'],
  ['has(user.claim.inner)', 'user.claim.inner exists true'],
  ['true', 'always'],
];

/** Expressions that stay CEL: conditions cannot express them. */
const UNLOWERED: readonly string[] = [
  'user.level > 1 ? user.active : false',
  'user.teams.exists(t, t == user.id)',
  'resource.editors.exists_one(t, t == user.id)',
  'resource.editors.exists(t, t.startsWith(user.id))',
  'size(resource.editors) > 1',
  '(user.active ? resource.at : resource.authorId) == "x"',
  '((resource.authorId == "x" ? user.active : false) ? user.active : resource.authorId == "y")',
  'resource.authorId == timestamp("2026-01-31T00:00:00Z")',
  'size(user.teams) > 1',
  'user.claim + 1.0 > 2.0',
  'user.teams[0] == "red"',
  '1 == 1',
  'user.claim == 9007199254740993',
];

const MISTAKES: readonly (readonly [source: string, fact: RegExp, code?: string])[] = [
  ['user.id ==', /expected a CEL expression/],
  ['usr.id == "x"', /unknown name "usr".*did you mean "user"/],
  ['user == null', /a field after the group/],
  ['user.__proto__ == 1', /cannot be read/],
  ['user["a.b"] == 1', /without a dot/],
  ['type(user.id) == 1', /unknown function "type"/],
  ['user.id.foo()', /unknown function "foo"/],
  ['user.id.matches("[")', /RE2/],
  ['(user.active ? user.id : "x").matches("[")', /RE2/],
  ['{"a": 1}.a == 1', /maps and messages/],
  ['resource.none == 1', /no field none/],
  ['size(resource.none) == 1', /no field none/],
  ['user.teams.all(a, resource.editors.exists(b, a == b))', /cannot contain another loop/],
  ['user.teams.filter(a, a != "x").exists(b, b == "y")', /or run over its result/],
  ['user.teams.map(a, a + a).map(a, a + a).exists(a, a == "x")', /or run over its result/],
  ['[1, 2].all(a, user.teams.exists(b, b == "x") && [3].all(c, c == a))', /cannot contain another loop/],
  ['user.teams.all(user, user == "x")', /cannot be a loop variable/],
  ['user.id.contains("a", "b")', /"a.contains\("b"\)" does not fit/],
  ['matches(user.id, "a", "b")', /"a.matches\("\^b"\)" does not fit/],
  ['user.id == 1', /user.id: expected a text, given 1/],
  ['user.level != "10"', /user.level: expected a number, given "10"/],
  ['user.level == user.id', /of another kind/],
  ['resource.at < "soon"', /expected an instant/],
  ['user.teams == ["red"]', /"==" does not fit user.teams, which is list/],
  ['user.claim == ["red"]', /user.claim: expected a text, number or boolean, given a list of 1/],
  ['"red" in user.id', /"in" does not fit user.id, which is text/],
  ['user.level.startsWith("1")', /"startsWith" does not fit user.level, which is number/],
  ['user.id', /user.id: expected a text, given true/],
  ['x'.repeat(201), /200 characters/, 'tooLong'],
  ['('.repeat(101), /100 levels/, 'tooDeep'],
  [`${'1+'.repeat(40)}1 == 41`, /at most 12 levels/],
];

const ANSWERS: readonly (readonly [string, JsonObject, Truth])[] = [
  ['user.claim == "x"', { claim: 'x' }, true],
  ['user.claim == "x"', { claim: 10 }, null],
  ['user.claim != "10"', { claim: 10 }, null],
  ['!(user.claim == "10")', { claim: 10 }, null],
  ['user.claim != null', { claim: 10 }, true],
  ['user.claim != null', {}, null],
  ['"x" in user.claim', { claim: { x: 1 } }, null],
  ['"x" in user.claim', { claim: [1, 'x'] }, true],
  ['"x" in user.claim', { claim: [1, 'y'] }, null],
  ['true ? user.claim != "10" : false', { claim: 10 }, null],
  ['user.teams.exists(t, t != 1)', { teams: ['red'] }, null],
  ['user.teams.all(t, t != "x")', { teams: ['red', 1] }, null],
  ['user.claim[0] != "x"', { claim: [1] }, null],
  ['timestamp(user.claim) == timestamp("2026-01-31T01:00:00+01:00")', { claim: '2026-01-31T00:00:00Z' }, true],
  ['user.claim == "x"', {}, null],
  ['!(user.claim == "x")', {}, null],
  ['user.claim == "x" || user.id == "u1"', { id: 'u1' }, true],
  ['user.claim.a.b > 1', { claim: { a: { b: 2 } } }, true],
  ['user.claim.a.b > 1', { claim: { a: 1 } }, null],
  ['has(user.claim.a)', { claim: {} }, false],
  ['has(user.claim.a) && user.claim.a == 1', { claim: { a: 1 } }, true],
  ['user.teams.exists(t, t.startsWith("re"))', { teams: ['blue', 'red'] }, true],
  ['user.teams.all(t, t.startsWith("re"))', { teams: ['blue', 'red'] }, false],
  ['size(user.teams) == 2', { teams: ['blue', 'red'] }, true],
  ['user.claim.matches("^(a+)+$")', { claim: `${'a'.repeat(5000)}!` }, false],
  ['user.claim', { claim: 'x' }, null],
  ['user.claim', { claim: null }, null],
  ['!user.claim', { claim: null }, null],
  ['!user.claim', { claim: false }, true],
  ['user.active', { active: null }, null],
  ['user.claim.a || user.claim.b', { claim: { a: null, b: true } }, true],
  ['user.claim / 0.0 == 1.0', { claim: 1 }, false],
  ['int(user.claim) == 10', { claim: '10' }, true],
  ['timestamp(user.claim) < timestamp("2026-02-01T00:00:00Z")', { claim: '2026-01-31T00:00:00Z' }, true],
  ['timestamp(user.claim).getHours("Nowhere/At/All") == 1', { claim: '2026-01-31T00:00:00Z' }, null],
  ['user.claim.toString == 1', { claim: {} }, null],
  // A path is read as a whole, and has() tests for a value, also in a loop.
  ['true ? has(user.claim.a.b) : true', {}, false],
  ['has(user.claim.a.b) ? true : false', { claim: 'x' }, false],
  ['(has(user.claim.a) ? user.claim.a : "none") == "none"', {}, true],
  ['user.teams.all(t, !has(user.claim.a))', { teams: ['red'] }, true],
  ['user.teams.exists(t, has(user.claim.a) && t == user.claim.a)', { teams: ['red'], claim: { a: 'red' } }, true],
  ['user.teams.exists(t, t == user.claim.a)', { teams: ['red'] }, null],
  ['true ? has(user.claim.a) : false', { claim: { a: null } }, true],
  ['has(user.id).b ? true : false', { id: 'u1' }, null],
  ['user.claim.exists(t, has(t.a) && t.a == 1)', { claim: [{ b: 1 }, { a: 1 }] }, true],
  ['user.claim[user.key] == "x"', { claim: { k: 'x' }, key: 'k' }, true],
  ['user.claim["k"] + user.claim.k == "xx"', { claim: { k: 'x' } }, true],
  ['user.claim.a == user.claim ? false : true', { claim: { a: 1 } }, null],
];

const COMPARISONS: readonly string[] = [
  ...['==', '!=', '<', '<=', '>', '>=', 'in'].map((sign) => `user.a ${sign} user.b`),
  ...['contains', 'startsWith', 'endsWith', 'matches'].map((name) => `user.a.${name}(user.b)`),
];
const SCALARS: readonly (Json | undefined)[] = [
  undefined,
  null,
  true,
  false,
  0,
  -0,
  1,
  1.5,
  1e300,
  '',
  'a',
  'ab',
  '1',
  '\ud83d',
  '😀',
  '\ufffd',
  '\uffff',
];
const VALUES: fc.Arbitrary<Json | undefined> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...SCALARS) },
  fc.array(fc.constantFrom(...SCALARS.filter((value) => value !== undefined)), { maxLength: 3 }),
  fc.constantFrom<Json>({}, { a: 1 }, [[]], [{}]),
);

describe('expressions', () => {
  for (const [source, expected] of LOWERED) {
    it(`lowers ${source} to ${expected}`, () => expect(printCondition(read(source).condition)).toBe(expected));
  }

  for (const source of UNLOWERED) {
    it(`leaves ${source} to CEL`, () => expect(read(source)).toMatchObject({ condition: { type: 'expression' }, issues: [] }));
  }

  for (const [source, fact, code = 'expression'] of MISTAKES) {
    it(`rejects the expression ${source.slice(0, 60)}`, () => {
      const { condition, issues } = read(source);
      expect(issues).toEqual([expect.objectContaining({ path: 'at.0.expression', code, detail: expect.stringMatching(fact) })]);
      expect(condition).toEqual({ type: 'constant', value: null });
    });
  }

  for (const [source, user, answer] of ANSWERS) {
    it(`evaluates ${source} with ${JSON.stringify(user).slice(0, 40)} to ${answer}`, () => {
      expect(read(source).issues).toEqual([]);
      expect(evaluate(read(source).condition, scopeOf(user))).toBe(answer);
    });
  }

  it('lists every path that an expression reads', () => {
    const { condition } = read(
      '(true ? has(user.claim.a) : false) || user.teams.exists(t, t == user["claim"].b) || user.level + 1.0 > 2.0',
    );
    expect(
      conditionPaths(condition)
        .map(({ text }) => text)
        .sort(),
    ).toEqual(['user.claim.a', 'user.claim.b', 'user.level', 'user.teams']);
  });

  it('lowers the parts that conditions can express and keeps the others in CEL', () => {
    expect(read('user.id == "u1" && size(user.claim) == 1').condition).toMatchObject({
      type: 'all',
      of: [{ type: 'comparison' }, { type: 'expression', source: 'size(user.claim) == 1' }],
    });
  });

  it('a comparison has the same result in CEL and lowered', () => {
    let known = 0;
    fc.assert(
      fc.property(fc.constantFrom(...COMPARISONS), VALUES, VALUES, (comparison, a, b) => {
        const user = Object.fromEntries(Object.entries({ a, b }).filter(([, value]) => value !== undefined)) as JsonObject;
        const lowered = read(comparison).condition;
        const unlowered = read(`[${comparison}][0]`).condition;
        expect([lowered.type, unlowered.type]).toEqual(['comparison', 'expression']);
        const answer = evaluate(lowered, scopeOf(user));
        expect(evaluate(unlowered, scopeOf(user))).toBe(answer);
        if (answer !== null) known++;
      }),
      { numRuns: casesOf(500) },
    );
    expect(known).toBeGreaterThan(casesOf(500) / 25);
  });

  it('reads a reference and the fields of the referenced record', () => {
    const values: ReadonlyMap<string, Json> = new Map([
      ['resource.authorId', 'u1'],
      ['resource.authorId.department', 'sports'],
    ]);
    const scope: Scope = { ...scopeOf({}), valueOf: ({ text }) => values.get(text) };
    for (const [source, answer] of [
      ['resource.authorId + resource.authorId.department == "u1sports"', true],
      ['[has(resource.authorId.department) ? resource.authorId == "u2" : true][0]', false],
    ] as const) {
      expect(read(source)).toMatchObject({ condition: { type: 'expression' }, issues: [] });
      expect(evaluate(read(source).condition, scope)).toBe(answer);
    }
  });

  it('rejects an expression if expressions are not allowed', () => {
    expect(parseConditions([{ expression: 'true' }], { ...READER, expressions: false }).issues).toHaveLength(1);
  });
});

const READER: ConditionParserOptions = {
  at: 'at',
  expressions: true,
  limits: SMALL_LIMITS,
  describePath: ({ group, keys, text }) => {
    if (group === 'resource' && !KINDS.has(text)) return { problem: `no field ${keys.join('.')}` };
    return KINDS.get(text) ?? 'any';
  },
};

function read(source: string): ReturnType<typeof parseConditions> {
  return parseConditions([{ expression: source }], READER);
}

function scopeOf(user: JsonObject): Scope {
  return {
    now: 0,
    timeZone: 'UTC',
    valueOf: ({ group, keys }) =>
      group === 'user' ? keys.reduce<Json | undefined>((value, key) => ownValue(value, key), user) : undefined,
    kindOf: ({ text }) => KINDS.get(text),
  };
}
