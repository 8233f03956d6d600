import { describe, expect, it } from 'vitest';
import type { Issue } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import type { Path, PathKind } from './condition.ts';
import type { ConditionParserOptions } from './condition-parser.ts';
import { printCondition } from './explain-condition.ts';
import { parseConditions } from './parse-condition.ts';
import { SMALL_LIMITS } from './small-limits.fixture.ts';

const KINDS: ReadonlyMap<string, PathKind> = new Map<string, PathKind>([
  ['user.department', { kind: 'text' }],
  ['resource.authorId', { kind: 'text' }],
  ['resource.size', { kind: 'number' }],
  ['resource.at', { kind: 'timestamp' }],
  ['resource.tags', { kind: 'list', itemKind: 'text' }],
]);

/** Invalid conditions, and the path, the code and a fact of each issue. */
const MISTAKES: readonly (readonly [string, Json, ...(readonly [path: string, code: string, fact: RegExp])[]])[] = [
  ['an object instead of a list', {}, ['at', 'type', /expected a list of conditions, given an object/]],
  [
    'texts instead of objects',
    ['x', null, []],
    ['at.0', 'type', /an object/],
    ['at.1', 'type', /an object/],
    ['at.2', 'type', /an object/],
  ],
  ['a misspelled group', [{ anyof: [] }], ['at.0.anyof', 'unknown', /unknown member "anyof" \(did you mean "anyOf"\?\)/]],
  [
    'two groups',
    [{ anyOf: [{ field: 'user.id', operator: 'exists', value: true }], not: {} }],
    ['at.0.not', 'unknown', /cannot be combined with anyOf/],
  ],
  ['an empty group', [{ allOf: [] }], ['at.0.allOf', 'type', /at least one condition/]],
  [
    'nothing in a comparison',
    [{ ifExists: true }],
    ['at.0.field', 'required', /given nothing/],
    ['at.0.operator', 'required', /given nothing/],
    ['at.0.value', 'required', /given nothing/],
  ],
  ['an unknown operator', [{ field: 'user.id', operator: 'equals', value: 1 }], ['at.0.operator', 'operator', /unknown operator "equals"/]],
  [
    'an inherited name as operator',
    [{ field: 'user.id', operator: 'constructor', value: 1 }],
    ['at.0.operator', 'operator', /unknown operator/],
  ],
  [
    'a path without a group',
    [{ field: 'department', operator: 'eq', value: 'x' }],
    ['at.0.field', 'field', /begins with user, resource, environment, request/],
  ],
  [
    'another context',
    [{ field: 'user.department', context: 'resource', operator: 'eq', value: 'x' }],
    ['at.0.field', 'field', /begins with user, but the context/],
  ],
  [
    'an unknown context',
    [{ field: 'department', context: 'usr', operator: 'eq', value: 'x' }],
    ['at.0.context', 'context', /did you mean "user"/],
  ],
  ['a prototype', [{ field: 'user.__proto__.x', operator: 'eq', value: 'x' }], ['at.0.field', 'field', /"__proto__" cannot be read/]],
  ['an empty name', [{ field: 'user..x', operator: 'eq', value: 'x' }], ['at.0.field', 'field', /a name between dots/]],
  ['a group alone', [{ field: 'user', operator: 'exists', value: true }], ['at.0.field', 'field', /a field after the group/]],
  ['a field that does not exist', [{ field: 'resource.sice', operator: 'eq', value: 1 }], ['at.0.field', 'field', /no field sice/]],
  [
    'an operator that does not fit',
    [{ field: 'resource.size', operator: 'contains', value: '1' }],
    ['at.0.operator', 'operator', /which is number; it takes eq, ne/],
  ],
  [
    'a literal of another type',
    [{ field: 'resource.size', operator: 'eq', value: '10' }],
    ['at.0.value', 'value', /expected a number, given "10"/],
  ],
  ['a broken date', [{ field: 'resource.at', operator: 'gt', value: '2026-02-30T00:00:00Z' }], ['at.0.value', 'value', /an instant/]],
  [
    'a broken network',
    [{ field: 'environment.ip', operator: 'cidr', value: ['10.0.0.0/8', '10/8'] }],
    ['at.0.value', 'value', /item 1: expected a network/],
  ],
  ['a broken pattern', [{ field: 'user.id', operator: 'matches', value: '[' }], ['at.0.value', 'value', /RE2/]],
  ['a broken duration', [{ field: 'resource.at', operator: 'withinLast', value: 'P1Y' }], ['at.0.value', 'value', /no fixed length/]],
  ['a broken day', [{ field: 'resource.at', operator: 'dayOfWeekIn', value: [0, 7] }], ['at.0.value', 'value', /item 0: expected a day/]],
  ['half a range', [{ field: 'resource.size', operator: 'between', value: [1] }], ['at.0.value', 'value', /a list of two/]],
  ['an object as value', [{ field: 'user.department', operator: 'eq', value: { $ne: null } }], ['at.0.value', 'value', /given an object/]],
  ['a text for in', [{ field: 'user.department', operator: 'in', value: 'x' }], ['at.0.value', 'value', /expected a list/]],
  [
    'an unclosed reference',
    [{ field: 'user.department', operator: 'eq', value: `\${resource.authorId` }],
    ['at.0.value', 'value', /closing }/],
  ],
  [
    'a reference to nothing',
    [{ field: 'user.department', operator: 'eq', value: `\${authorId}` }],
    ['at.0.value', 'value', /reference: expected a path/],
  ],
  [
    'a reference into a prototype',
    [{ field: 'user.department', operator: 'in', value: [`\${user.constructor}`] }],
    ['at.0.value.0', 'value', /cannot be read/],
  ],
  [
    'a reference to an unknown field',
    [{ field: 'user.department', operator: 'eq', value: `\${resource.sice}` }],
    ['at.0.value', 'value', /no field sice/],
  ],
  [
    'kinds that cannot be compared',
    [{ field: 'user.department', operator: 'eq', value: `\${resource.size}` }],
    ['at.0.value', 'value', /another kind/],
  ],
  [
    'a text where a list is due',
    [{ field: 'user.department', operator: 'in', value: `a \${user.id}` }],
    ['at.0.value', 'value', /does not take a text/],
  ],
  [
    'a list where a text is due',
    [{ field: 'user.department', operator: 'eq', value: [`\${user.id}`] }],
    ['at.0.value', 'value', /does not take a list/],
  ],
  [
    'a literal next to a reference',
    [{ field: 'resource.size', operator: 'in', value: [`\${resource.size}`, 'x'] }],
    ['at.0.value', 'value', /item 1: expected a number/],
  ],
  [
    'a long list',
    [{ field: 'user.department', operator: 'in', value: ['a', 'b', 'c', 'd', 'e', 'f'] }],
    ['at.0.value', 'tooMany', /at most 5 items, given 6/],
  ],
  [
    'a long text',
    [{ field: 'user.department', operator: 'eq', value: 'x'.repeat(101) }],
    ['at.0.value', 'tooLong', /at most 100 characters, given 101/],
  ],
  [
    'ifExists of another type',
    [{ field: 'user.id', operator: 'eq', value: 'x', ifExists: 'yes' }],
    ['at.0.ifExists', 'type', /true or false/],
  ],
  ['an expression where none is allowed', [{ expression: 'user.id == "x"' }], ['at.0.expression', 'expression', /policies of type CUSTOM/]],
  [
    'mistakes in different places',
    [{ anyOf: [{ field: 'user.id', operator: 'eq', value: 'x' }, { not: { field: 'x', operator: 'y', value: 'z' } }] }],
    ['at.0.anyOf.1.not.field', 'field', /begins with/],
    ['at.0.anyOf.1.not.operator', 'operator', /unknown operator/],
  ],
];

const READ: readonly (readonly [Json, string])[] = [
  [[], 'always'],
  [[{ field: 'department', context: 'user', operator: 'eq', value: 'sales' }], 'user.department eq "sales"'],
  [[{ field: 'user.department', context: 'user', operator: 'eq', value: null }], 'user.department eq null'],
  [
    [{ field: 'resource.authorId', operator: 'eq', value: `\${user.id}`, ifExists: true }],
    `resource.authorId eq \${user.id} (if it exists)`,
  ],
  [[{ field: 'user.id', operator: 'in', value: [`\${resource.authorId}`, 'u1'] }], `user.id in [\${resource.authorId}, "u1"]`],
  [[{ field: 'user.path', operator: 'eq', value: `a/\${user.id}/b` }], `user.path eq "a/\${user.id}/b"`],
  [[{ field: 'user.id', operator: 'in', value: `\${resource.tags}` }], `user.id in \${resource.tags}`],
  [
    [
      { anyOf: [{ field: 'user.a', operator: 'eq', value: 1 }, { not: { field: 'user.b', operator: 'eq', value: 2 } }] },
      { field: 'user.c', operator: 'exists', value: true },
    ],
    '(user.a eq 1 or not user.b eq 2) and user.c exists true',
  ],
];

describe('parseConditions', () => {
  for (const [name, input, ...expected] of MISTAKES) {
    it(`rejects ${name} with its path and code`, () => {
      const { condition, issues } = parseConditions(input, reader());
      expect(issues).toEqual(expected.map(([path, code, fact]) => ({ path, code, detail: expect.stringMatching(fact) })));
      expect(printCondition(condition)).toMatch(/unknown/);
    });
  }

  for (const [input, expected] of READ) {
    it(`parses conditions as ${expected}`, () => {
      expect(parseConditions(input, reader())).toMatchObject({ issues: [] });
      expect(printCondition(parseConditions(input, reader()).condition)).toBe(expected);
    });
  }

  it('keeps the valid conditions next to an invalid one', () => {
    const { condition } = parseConditions([{ field: 'user.id', operator: 'eq', value: 'x' }, 'wrong'], reader());
    expect(printCondition(condition)).toBe('user.id eq "x" and unknown');
  });

  for (const depth of [1_000, 100_000]) {
    it(`stops at the limit on depth in ${depth} nested groups`, () => {
      let input: Json = { field: 'user.id', operator: 'eq', value: 'x' };
      for (let level = 0; level < depth; level++) input = level % 2 === 0 ? { not: input } : { anyOf: [input] };
      expect(codesOf(parseConditions([input], reader()).issues)).toEqual(['tooDeep']);
    });
  }

  it('does not walk deep values', () => {
    let value: Json = [];
    for (let level = 0; level < 100_000; level++) value = [value];
    expect(codesOf(parseConditions([{ field: 'user.id', operator: 'in', value }], reader()).issues)).toEqual(['value']);
  });

  it('reports too many conditions once', () => {
    const input = Array.from({ length: 50_000 }, () => ({ anyOf: [{ field: 'user.id', operator: 'eq', value: 'x' }] }));
    expect(codesOf(parseConditions(input, reader()).issues)).toEqual(['tooMany']);
  });

  it('ignores inherited members', () => {
    const input = JSON.parse('[{"__proto__": {"field": "user.id", "operator": "eq", "value": "x"}}]') as Json;
    expect(codesOf(parseConditions(input, reader()).issues)).toEqual(['unknown']);
  });
});

function reader(): ConditionParserOptions {
  return { at: 'at', expressions: false, limits: SMALL_LIMITS, describePath };
}

function describePath(path: Path): PathKind | 'any' | { readonly problem: string } {
  if (path.group === 'resource' && !KINDS.has(path.text)) return { problem: `no field ${path.keys.join('.')}` };
  return KINDS.get(path.text) ?? 'any';
}

function codesOf(issues: readonly Issue[]): readonly string[] {
  return issues.map(({ code }) => code);
}
