import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../../../test/budget.ts';
import { type Json, ownValue } from '../../operators/index.ts';
import type { PathKind, Scope } from '../condition.ts';
import type { ConditionParserOptions } from '../condition-parser.ts';
import { parseConditions } from '../parse-condition.ts';
import { evaluate } from '../partial-evaluation.ts';
import { SMALL_LIMITS } from '../small-limits.fixture.ts';

const KINDS: ReadonlyMap<string, PathKind> = new Map<string, PathKind>([
  ['user.title', { kind: 'text' }],
  ['user.level', { kind: 'number' }],
  ['user.fee', { kind: 'decimal' }],
  ['user.at', { kind: 'timestamp' }],
  ['user.active', { kind: 'boolean' }],
  ['user.count', { kind: 'number', whole: true }],
  ['user.born', { kind: 'date' }],
  ['user.teams', { kind: 'list', itemKind: 'text' }],
]);

const FITTING: readonly string[] = [
  'user.level + 1.0 == 6.0',
  'user.level + 1 == 6',
  'user.count % 2 == 0',
  'user.count * 1.5 > user.level',
  'user.count / 2 == 3.0',
  'user.at > timestamp("2026-01-01T00:00:00Z")',
  'user.at.getHours("Europe/Berlin") > 1',
  'user.at - duration("1h") < user.at + duration("1h")',
  'timestamp(user.claim) == "2026-01-31T00:00:00Z"',
  'int(user.level) % 2 == 1',
  'double(user.fee) * 2.0 > 20.0',
  'timestamp(user.at) - timestamp("2026-01-01T00:00:00Z") > duration("1h")',
  'timestamp(user.at).getHours("Asia/Kathmandu") < 18',
  'size(user.teams) == 1.0',
  'user.level > size(user.title)',
  'user.claim + 1 > 2',
  'user.teams.exists(t, size(t) > 1)',
  'user.teams.filter(t, t != "x")[0] == "red"',
  '(user.active ? user.title : "none") + "!" == "a!"',
  'size(user.claim) == 1 ? user.active : has(user.claim.a)',
];

const MISTAKES: readonly (readonly [string, string])[] = [
  ['user.level % 2 == 1', '"a % b" does not fit a number (1.0) and a whole number (1)'],
  ['user.count % 2.0 == 1', '"a % b" does not fit a whole number (1) and a number (1.0)'],
  ['user.born > timestamp("2026-01-01T00:00:00Z")', '"a > b" does not fit a date and a timestamp'],
  ['timestamp(user.born) > timestamp("2026-01-01T00:00:00Z")', '"timestamp(a)" does not fit a date'],
  ['user.born.getFullYear() > 2000', '"t.getFullYear()" does not fit a date'],
  ['user.active.getHours() > 1', '"t.getHours()" does not fit true or false'],
  ['user.fee + 1.0 > 2.0', '"a + b" does not fit a text and a number (1.0)'],
  ['size(user.level) > 1', '"size(a)" does not fit a number (1.0)'],
  ['size(user.teams) != "2"', '"a != b" does not fit a whole number (1) and a text'],
  ['timestamp(user.claim) == "soon"', '"a == b" does not fit a timestamp and a text'],
  ['timestamp("soon") == timestamp(user.claim)', '"timestamp(a)" does not fit a text'],
  ['user.level % 2.0 == 1.0', '"a % b" does not fit a number (1.0) and a number (1.0)'],
  ['user.level ? true : false', '"a ? b : c" does not fit a number (1.0) and true or false and true or false'],
  ['user.title.exists(t, t == "x")', 'a loop runs over a list, not over a text'],
  ['size(user.title)', 'expected an expression that is true or false, given a whole number (1)'],
  ['user.active && 5', 'expected an expression that is true or false, given a whole number (1)'],
];

describe('types of expressions', () => {
  it.each(FITTING)('accepts the expression %s', (expression) => expect(read(expression).issues).toEqual([]));

  it.each(MISTAKES)('describes why the types of %s do not fit', (expression, detail) =>
    expect(read(expression).issues.map((issue) => issue.detail)).toEqual([detail]),
  );

  it('rejects only expressions that are unknown for all values', () => {
    let refused = 0;
    let taken = 0;
    fc.assert(
      fc.property(TERMS, USERS, (term, user) => {
        const expression = `${term} == ${term}`;
        // Without definitions, the same expression is accepted and evaluated.
        const answer = evaluate(parseConditions([{ expression }], UNTYPED).condition, scopeOf(user));
        if (read(expression).issues.length === 0) taken++;
        else {
          refused++;
          expect(answer).toBe(null);
        }
      }),
      { numRuns: casesOf(200) },
    );
    expect(Math.min(refused, taken)).toBeGreaterThan(casesOf(200) / 10);
  });
});

const LEAVES = [
  'user.title',
  'user.level',
  'user.fee',
  'user.at',
  'user.born',
  'user.count',
  '"2026-01-31T12:00:00Z"',
  'user.active',
  'user.teams',
  '1',
  '2.0',
  '"3"',
  'true',
  'duration("1h")',
];
/** Expressions without `&&`, `||` and `? :`, which can absorb an error. */
const { term: TERMS } = fc.letrec<{ term: string }>((tie) => ({
  term: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(...LEAVES),
    fc
      .tuple(fc.constantFrom('+', '-', '*', '/', '%', '<', '==', 'in'), tie('term'), tie('term'))
      .map(([sign, a, b]) => `(${a} ${sign} ${b})`),
    fc
      .tuple(fc.constantFrom('size', 'int', 'double', 'string', 'timestamp', 'duration', '!', '-'), tie('term'))
      .map(([name, a]) => `${name}(${a})`),
    fc.tuple(fc.constantFrom('contains', 'matches'), tie('term'), tie('term')).map(([name, a, b]) => `(${a}).${name}(${b})`),
    tie('term').map((a) => `(${a}).getHours()`),
    tie('term').map((a) => `(${a})[0]`),
  ),
}));

const USERS = fc.record<Record<string, Json>>({
  title: fc.constantFrom('3', 'a', ''),
  level: fc.constantFrom(1, 2.5, 0),
  fee: fc.constantFrom('12.30', '-1.00'),
  at: fc.constantFrom('2026-01-31T12:00:00.000Z', '1969-12-31T00:00:00.000Z'),
  born: fc.constantFrom('2026-01-31', '1969-12-31'),
  count: fc.constantFrom(3, 0, -7, Number.MAX_SAFE_INTEGER),
  active: fc.boolean(),
  teams: fc.constantFrom<Json>([], ['3'], ['a', 'b']),
});

const UNTYPED: ConditionParserOptions = {
  at: 'at',
  expressions: true,
  limits: { ...SMALL_LIMITS, expressionLength: 4000, expressionDepth: 32 },
};

function read(expression: string): ReturnType<typeof parseConditions> {
  return parseConditions([{ expression }], { ...UNTYPED, describePath: ({ text }) => KINDS.get(text) ?? 'any' });
}

function scopeOf(user: Readonly<Record<string, Json>>): Scope {
  return {
    now: 0,
    timeZone: 'UTC',
    valueOf: ({ keys }) => keys.reduce<Json | undefined>((value, key) => ownValue(value, key), user),
    kindOf: (path) => KINDS.get(path.text),
  };
}
