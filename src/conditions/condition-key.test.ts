import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../operators/index.ts';
import { conditionKey } from './condition-key.ts';
import { parseConditions } from './parse-condition.ts';

const LIMITS = {
  depth: 9,
  references: 4,
  comparisons: 99,
  listItems: 99,
  textLength: 99,
  expressionLength: 99,
  expressionDepth: 9,
  relatedRecords: 100,
};

const keyOf = (...conditions: readonly JsonObject[]): string => {
  const { condition, issues } = parseConditions(conditions, { at: '', expressions: true, limits: LIMITS });
  expect(issues).toEqual([]);
  return conditionKey(condition);
};

const is = (field: string, value: unknown, operator = 'eq') => ({ field, operator, value }) as JsonObject;
const a = is('resource.a', 1);
const b = is('resource.b', 2);

describe('conditionKey', () => {
  it('does not depend on the order or the number of equal members', () => {
    expect(keyOf(a, b)).toBe(keyOf(b, a, b));
    expect(keyOf({ anyOf: [a, { allOf: [a] }] })).toBe(keyOf(a));
    expect(keyOf({ anyOf: [a, { allOf: [a, b] }] })).toBe(keyOf({ anyOf: [{ allOf: [b, a] }, a] }));
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['a path', a, is('resource.b', 1)],
    ['an operator', a, is('resource.a', 1, 'ne')],
    ['a value', a, is('resource.a', 2)],
    ['the type of a value', a, is('resource.a', '1')],
    ['ifExists', a, { ...a, ifExists: true }],
    ['a negation', a, { not: a }],
    ['the group', { anyOf: [a, b] }, { allOf: [a, b] }],
    ['a reference in place of a text', is('resource.a', `\${user.id}`), is('resource.a', 'user.id')],
    ['the path of a reference', is('resource.a', `\${user.id}`), is('resource.a', `\${user.role}`)],
    ['a part of a template', is('resource.a', `x\${user.id}`), is('resource.a', `y\${user.id}`)],
    ['an item of a list', is('resource.a', ['x', `\${user.id}`], 'in'), is('resource.a', ['y', `\${user.id}`], 'in')],
    ['an expression', { expression: 'resource.a.matches("x")' }, { expression: 'resource.a.matches("y")' }],
    ['a computed value', { expression: 'resource.a == user.a + 1' }, { expression: 'resource.a == user.a + 2' }],
  ])('two conditions differ by %s', (_, one, other) => {
    expect(keyOf(one)).not.toBe(keyOf(other));
    expect(keyOf(one)).toBe(keyOf(one));
  });
});
