import { describe, expect, it } from 'vitest';
import type { PathKind } from '../condition.ts';
import { parseConditions } from '../parse-condition.ts';
import { SMALL_LIMITS } from '../small-limits.fixture.ts';
import { celLibrary } from './cel-library.ts';
import { createLocator } from './cel-mistakes.ts';
import { type CelNode, partsOf } from './cel-tree.ts';

const KINDS: ReadonlyMap<string, PathKind> = new Map<string, PathKind>([
  ['user.id', { kind: 'text' }],
  ['user.level', { kind: 'number' }],
  ['user.teams', { kind: 'list', itemKind: 'text' }],
  ['resource.authorId', { kind: 'text' }],
]);

/** Returns the mistakes of an expression, each with the text that it marks. */
function markedIn(expression: string): readonly (readonly [detail: string, marked: string | undefined])[] {
  const { issues } = parseConditions([{ expression }], {
    at: 'at',
    expressions: true,
    limits: { ...SMALL_LIMITS, expressionLength: 200, expressionDepth: 8 },
    describePath: ({ text }) => KINDS.get(text) ?? (text.startsWith('user.x') ? { problem: `unknown ${text}` } : 'any'),
    domainOf: ({ text }) =>
      text === 'resource.authorId' ? { values: ['u1', 'u2'], described: 'one of "u1", "u2"', nearest: () => '' } : undefined,
  });
  return issues.map(({ detail, range }) => [detail, range && expression.slice(range.start, range.end)]);
}

describe('the range of a mistake in an expression', () => {
  it.each<[string, ...string[]]>([
    ['user.level ==', '=='],
    ['user.id = "a"', '='],
    ['user.id == "a" b', 'b'],
    ['user.id in ["a"', 'in'],
    ['user.id == "a" //', '"a"'],
    ['"é😀" == user.id && usr.id == "a"', 'usr'],
    ['(usr.id == "a") && (foo() || bar(user.id, [1, 2]))', 'usr', 'foo()', 'bar(user.id, [1, 2])'],
    ['user.x.y == "a" && resource . authorId == user["xs"]', 'user.x.y', 'user["xs"]'],
    ['has(user.xyz)', 'has(user.xyz)'],
    ['user.id.matches("(") || true', '"("'],
    ['user.level + "a" == "b" && user.id == "u"', 'user.level + "a"'],
    ['(user.level - 1) / (user.id) > 2.5e-3', '(user.level - 1) / (user.id)'],
    ['user.id == "u" && (user.level.startsWith("1"))', 'user.level.startsWith("1")'],
    ['user.id == "u" || resource.authorId == "u3" // "u3"\n', 'resource.authorId == "u3"'],
    ['user.teams.exists(t, user.teams.exists(u, u == t))', 'user.teams.exists(u, u == t)'],
    ['user.id.exists(t, t == r"\\)")', 'user.id'],
    ['size(user.teams) + 1', 'size(user.teams) + 1'],
    ['!{"a": 1}', '{"a": 1}'],
    ['related(Team, t, t.a > 1) && true', 't.a > 1'],
    ['user.claim.a.within([1.5], 2)', 'user.claim.a.within([1.5], 2)'],
  ])('marks the part of %s', (expression, ...marked) => {
    expect(markedIn(expression).map(([, text]) => text)).toEqual(marked);
  });

  it('marks nothing if the whole value is wrong', () => {
    expect(markedIn('('.repeat(150))).toEqual([[expect.stringContaining('levels of brackets'), undefined]]);
  });

  it('contains each part of an expression with its own brackets', () => {
    const text = 'f(a.b[c["]"].d], (1)) ? [x, {"k": y}.k].z() : -(p && !(q || r in [s]))';
    const source = celLibrary().parse(text);
    const locate = createLocator(text, source);
    const found: string[] = [];
    const visit = (node: CelNode): void => {
      const { start = 0, end = 0 } = locate(node) ?? {};
      found.push(text.slice(start, end));
      for (const part of partsOf(node)) visit(part);
    };
    visit(source.expr);
    expect(found).toMatchInlineSnapshot(`
      [
        "f(a.b[c["]"].d], (1)) ? [x, {"k": y}.k].z() : -(p && !(q || r in [s]))",
        "f(a.b[c["]"].d], (1))",
        "a.b[c["]"].d]",
        "a.b",
        "a",
        "c["]"].d",
        "c["]"]",
        "c",
        ""]"",
        "1",
        "[x, {"k": y}.k].z()",
        "[x, {"k": y}.k]",
        "x",
        "{"k": y}.k",
        "{"k": y}",
        "-(p && !(q || r in [s]))",
        "p && !(q || r in [s])",
        "p",
        "!(q || r in [s])",
        "q || r in [s]",
        "q",
        "r in [s]",
        "r",
        "[s]",
        "s",
      ]
    `);
  });
});
