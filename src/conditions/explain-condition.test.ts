import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, ownValue } from '../operators/index.ts';
import { type Condition, type Scope, UNRESOLVED } from './condition.ts';
import { conditionPaths } from './condition-paths.ts';
import { explainCondition, printCondition } from './explain-condition.ts';
import { parseConditions } from './parse-condition.ts';
import { SMALL_LIMITS } from './small-limits.fixture.ts';

const { condition } = parseConditions(
  [
    { field: 'user.department', operator: 'eq', value: 'sales' },
    {
      anyOf: [
        { field: 'resource.authorId', operator: 'eq', value: `\${user.id}` },
        { not: { field: 'user.level', operator: 'gt', value: 3, ifExists: true } },
      ],
    },
    { expression: 'size(user.department) > 2' },
  ],
  {
    at: '',
    expressions: true,
    limits: SMALL_LIMITS,
  },
);

describe('explainCondition', () => {
  it('returns the values and the result of each comparison', () => {
    const trace = explainCondition(condition, scopeOf({ department: 'sales', id: 'u1' }, { authorId: 'u2' }));
    expect(trace).toEqual({
      type: 'all',
      answer: 'true',
      of: [
        { type: 'comparison', field: 'user.department', operator: 'eq', expected: 'sales', actual: 'sales', answer: 'true' },
        {
          type: 'any',
          answer: 'true',
          of: [
            {
              type: 'comparison',
              field: 'resource.authorId',
              operator: 'eq',
              expected: 'u1',
              written: `\${user.id}`,
              actual: 'u2',
              answer: 'false',
            },
            {
              type: 'not',
              answer: 'true',
              of: { type: 'comparison', field: 'user.level', operator: 'gt', expected: 3, missing: true, ifExists: true, answer: 'false' },
            },
          ],
        },
        { type: 'expression', source: 'size(user.department) > 2', answer: 'true' },
      ],
    });
  });

  it('reports unknown for a missing value, and open for an unresolved record', () => {
    const trace = explainCondition(condition, scopeOf({ id: 'u1', level: 5 }, UNRESOLVED));
    expect(trace).toMatchObject({
      answer: 'open',
      of: [{ answer: 'unknown', missing: true }, { of: [{ answer: 'open' }, { answer: 'false' }] }, { answer: 'unknown' }],
    });
    expect(JSON.stringify(trace)).not.toContain('"actual":{}');
  });

  it('lists only the paths of the condition', () => {
    expect(conditionPaths(condition).map(({ text }) => text)).toEqual(['user.department', 'resource.authorId', 'user.id', 'user.level']);
  });
});

function scopeOf(user: JsonObject, record: JsonObject | typeof UNRESOLVED): Scope {
  return {
    now: 0,
    timeZone: 'UTC',
    kindOf: () => undefined,
    valueOf({ group, keys }) {
      if (group === 'resource' && record === UNRESOLVED) return UNRESOLVED;
      const of = group === 'user' ? user : group === 'resource' ? (record as JsonObject) : {};
      return keys.reduce<Json | undefined>((value, key) => ownValue(value, key), of);
    },
  };
}

const leaf: Condition = {
  type: 'comparison',
  path: { group: 'resource', keys: ['size'], text: 'resource.size' },
  operator: 'gte',
  operand: { type: 'literal', value: 0 },
  ifExists: false,
};
const many = (type: 'all' | 'any', of: readonly Condition[]): Condition => ({ type, of });

describe('printCondition', () => {
  it('prints the whole condition without a limit', () => {
    expect(printCondition(many('any', [leaf, many('all', [leaf, leaf])]))).toBe(
      'resource.size gte 0 or (resource.size gte 0 and resource.size gte 0)',
    );
  });

  it('omits members after the limit, at any depth', () => {
    const wide = many('any', Array(10_000).fill(many('all', Array(10_000).fill(leaf))));
    const text = printCondition(wide, 100);
    expect(text).toMatch(/^\(resource.size gte 0 and .* and …\) or …$/);
    expect(text.length).toBeLessThan(200);
  });
});
