import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../operators/index.ts';
import { ALWAYS } from './condition.ts';
import { parseConditions } from './parse-condition.ts';
import { traceResidual } from './residual-trace.ts';
import { SMALL_LIMITS } from './small-limits.fixture.ts';

const OPTIONS = { at: '', expressions: true, limits: { ...SMALL_LIMITS, listItems: 1000, textLength: 1000 } };
const traceOf = (condition: JsonObject) => traceResidual(parseConditions([condition], OPTIONS).condition);
const right = (value: unknown) => {
  const {
    type: _,
    field: __,
    operator: ___,
    answer: ____,
    ...rest
  } = traceOf({ field: 'user.a', operator: 'in', value } as JsonObject) as JsonObject;
  return rest;
};

describe('traceResidual', () => {
  it('returns the fields, the operators and the groups of the condition, all open', () => {
    const condition = {
      anyOf: [
        { not: { field: 'resource.locked', operator: 'exists', value: true } },
        { field: 'resource.folderId', operator: 'within', value: 'f', ifExists: true },
        { expression: 'size(user.a) > 2' },
      ],
    };
    expect(traceOf(condition)).toEqual({
      type: 'any',
      answer: 'open',
      of: [
        {
          type: 'not',
          answer: 'open',
          of: { type: 'comparison', field: 'resource.locked', operator: 'exists', expected: true, answer: 'open' },
        },
        { type: 'comparison', field: 'resource.folderId', operator: 'within', expected: 'f', ifExists: true, answer: 'open' },
        { type: 'expression', source: 'size(user.a) > 2', answer: 'open' },
      ],
    });
  });

  it('returns the links and the condition of related records, unless each one counts', () => {
    const on = { userId: '${user.id}', level: 'owner' };
    const where = [{ field: 'm.until', operator: 'exists', value: false }];
    const links = [
      { field: 'userId', written: '${user.id}' },
      { field: 'level', expected: 'owner' },
    ];
    const related = { resource: 'Membership', as: 'm', on, atLeast: 2, atMost: 3 };
    expect(traceOf({ related: { ...related, where } })).toEqual({
      ...{ type: 'related', resource: 'Membership', as: 'm', on: links, atLeast: 2, atMost: 3, answer: 'open' },
      where: { type: 'comparison', field: 'm.until', operator: 'exists', expected: false, answer: 'open' },
    });
    expect(traceOf({ related })).not.toHaveProperty('where');
  });

  it.each([
    [['a', 1, null], { expected: ['a', 1, null] }],
    ['${user.b}', { written: '${user.b}' }],
    [['${user.b}', 'c'], { written: '[${user.b}, "c"]' }],
  ])('the right side %j is %j', (value, expected) => expect(right(value)).toEqual(expected));

  it('prints operands that are too long, so that the trace stays short', () => {
    expect(right(Array.from({ length: 900 }, (_, nth) => `id${nth}`))).toEqual({
      written: '["id0", "id1", "id2", "id3", "id4", … 895 more]',
    });
    const long = traceOf({ field: 'user.a', operator: 'eq', value: 'x'.repeat(900) });
    expect(JSON.stringify(long).length).toBeLessThan(200);
    expect(JSON.stringify(right([{ a: { b: 'x'.repeat(900) } }])).length).toBeLessThan(60);
  });

  it('says that a constant is always true', () => expect(traceResidual(ALWAYS)).toEqual({ type: 'constant', answer: 'true' }));
});
