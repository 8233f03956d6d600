import { describe, expect, it } from 'vitest';
import { CATALOGUE } from '../condition/catalogue.fixture.ts';
import type { ConditionTrace } from './condition-words.ts';
import { describeResidual } from './residual-words.ts';

const vocabulary = { operators: CATALOGUE.operators, names: { u1: 'Maya Lindqvist' } };
const words = (trace: ConditionTrace): string => describeResidual(trace, vocabulary);
const comparison = (members: Partial<ConditionTrace>): ConditionTrace => ({
  ...{ type: 'comparison', field: 'resource.status', operator: 'eq', expected: 'draft', answer: 'open' },
  ...members,
});

describe('describeResidual', () => {
  it.each<[Partial<ConditionTrace>, string]>([
    [{}, 'resource.status is "draft"'],
    [{ operator: 'in', expected: ['a', 'b'] }, 'resource.status is one of ["a", "b"]'],
    [{ operator: 'exists', expected: false }, 'resource.status has no value'],
    [{ expected: 'u1', field: 'resource.authorId' }, 'resource.authorId is Maya Lindqvist'],
    [{ written: '${request.data.status}', expected: undefined }, 'resource.status is request.data.status'],
    [{ written: '["a", … 8 more]', operator: 'in' }, 'resource.status is one of ["a", … 8 more]'],
    [{ operator: 'within', expected: 'f', ifExists: true }, 'resource.status is within "f" (false if missing)'],
    [{ operator: 'unheardOf' }, 'resource.status unheardOf "draft"'],
  ])('writes the comparison %j as %s', (members, expected) => expect(words(comparison(members))).toBe(expected));

  it('puts inner groups into parentheses', () => {
    const both: ConditionTrace = { type: 'all', answer: 'open', of: [comparison({}), comparison({ expected: 'done' })] };
    expect(words({ type: 'any', answer: 'open', of: [comparison({}), both] })).toBe(
      'resource.status is "draft" or (resource.status is "draft" and resource.status is "done")',
    );
    expect(words({ type: 'not', answer: 'open', of: comparison({}) })).toBe('not (resource.status is "draft")');
    expect(words({ type: 'constant', answer: 'true' })).toBe('always');
  });

  it('names the links and the conditions of related records', () => {
    const related: ConditionTrace = {
      ...{ type: 'related', resource: 'Membership', as: 'm', answer: 'open', atLeast: 1 },
      on: [
        { field: 'userId', expected: 'u1' },
        { field: 'organisationId', written: '${resource.organisationId}' },
      ],
      where: comparison({ field: 'm.level', expected: 'owner' }),
    };
    expect(words(related)).toBe(
      'at least one Membership m where m.userId is Maya Lindqvist and m.organisationId is resource.organisationId and m.level is "owner"',
    );
  });
});
