import { describe, expect, it } from 'vitest';
import { suggestOperator } from './foreign-operators.ts';
import { OPERATORS } from './operator-table.ts';

describe('suggestOperator', () => {
  it.each([
    ['==', 'eq'],
    ['equals', 'eq'],
    ['_eq', 'eq'],
    ['$eq', 'eq'],
    ['StringEquals', 'eq'],
    ['!=', 'ne'],
    ['neq', 'ne'],
    ['>=', 'gte'],
    ['not_in', 'nin'],
    ['contains_any', 'hasAny'],
    ['containsAll', 'hasAll'],
    ['@>', 'hasAll'],
    ['contained_by', 'subsetOf'],
    ['starts_with', 'startsWith'],
    ['_istarts_with', 'istartsWith'],
    ['regex', 'matches'],
    ['is_null', 'isNull'],
    ['IpAddress', 'cidr'],
    ['betwen', 'between'],
    ['EQ', 'eq'],
  ])('takes %s for %s', (given, operator) => {
    expect(suggestOperator(given)).toBe(` (did you mean "${operator}"?)`);
  });

  it('names no operator that does not fit, and none for what is near to nothing', () => {
    expect(suggestOperator('contains_any', ['eq', 'ne'])).toBe('');
    expect(suggestOperator('constructor')).toBe('');
    expect(suggestOperator('_')).toBe('');
  });

  it('takes each of our own names for itself', () => {
    for (const name of OPERATORS.keys()) expect(suggestOperator(name.toUpperCase())).toBe(` (did you mean "${name}"?)`);
  });
});
