import { expect, it } from 'vitest';
import { sql } from '../sql.ts';
import { createStatements } from './contract.ts';

const toStatement = createStatements((nth) => `$${nth}`);

it('createStatements numbers the parameters of a template', () => {
  expect(toStatement(sql`select ${1} in ${[2, 3]}`)).toEqual({ sql: 'select $1 in $2', parameters: [1, [2, 3]] });
});

it('createStatements returns a finished statement unchanged', () => {
  const statement = { sql: 'select $1', parameters: [1] };
  expect(toStatement(statement)).toBe(statement);
});
