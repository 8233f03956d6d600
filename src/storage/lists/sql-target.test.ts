import { afterAll, describe, expect, it } from 'vitest';
import { define, openTestDatabase, resourceOf } from '../storage.fixture.ts';
import { isExactInSql } from './sql-target.ts';

const definitions = define({ Person: { fields: { department: { type: 'string' } } } });
const test = openTestDatabase();
afterAll(() => test.dispose());

describe('isExactInSql', () => {
  it.each([
    ['eq', 'sports', true],
    ['matches', '^s', false],
  ] as const)('the operator %s with %j is exact in SQL: %s', (operator, value, expected) => {
    const path = { group: 'resource', keys: ['department'], text: 'resource.department' } as const;
    const comparison = { type: 'comparison', path, operator, operand: { type: 'literal', value }, ifExists: false } as const;
    const isExact = isExactInSql(comparison, resourceOf(definitions, 'Person'), {
      dialect: test.database.dialect,
      now: 0,
      timeZone: 'UTC',
      definitions,
    });
    expect(isExact).toBe(expected);
  });
});
