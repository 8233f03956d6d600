import { expect, it } from 'vitest';
import { sql } from '../sql.ts';
import { createStatements } from './contract.ts';

const toStatement = createStatements((nth) => `$${nth}`);

it('puts a template together', () => {
  expect(toStatement(sql`select ${1} in ${[2, 3]}`)).toEqual({ sql: 'select $1 in $2', parameters: [1, [2, 3]] });
});

it('leaves what is said in words already as it is', () => {
  const statement = { sql: 'select $1', parameters: [1] };
  expect(toStatement(statement)).toBe(statement);
});
