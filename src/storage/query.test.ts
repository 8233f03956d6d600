import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, type RawBuilder, sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { createStatements } from './query.ts';

const compiler = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});
const toStatement = createStatements({ compiler, placeholder: (number) => `$${number}` });

const inner = sql`b = ${2} and c in (${sql.join([3, null, 'x', true])})`;

it.each<[string, RawBuilder<unknown>]>([
  ['text alone', sql`select 1`],
  ['values, one template within another', sql`select ${sql.raw('"a"')} where a = ${'1'} and (${inner}) or ${inner}`],
  ['a value twice', sql`${1} ${1}`],
  ['nothing', sql``],
  ['a value that is an object', sql`select ${Buffer.from('b')}`],
  ['names', sql`select ${sql.ref('t.c')} from ${sql.table('T')} where ${sql.id('x', 'y')} = ${1}`],
  ['what stands in the text', sql`select ${sql.lit("it's")}, ${5}`],
  ['a list of values', sql`select ${1} in ${[2, 3]} and ${4}`],
])('is what the compiler makes of %s', (_, query) => {
  const { sql: text, parameters } = query.compile(compiler);
  expect(toStatement(query)).toMatchObject({ sql: text, parameters });
});

it('asks the compiler for nothing but what it has to', () => {
  const asked = vi.spyOn(compiler, 'getExecutor');
  toStatement(sql`a = ${1} and ${inner}`);
  expect(asked).not.toHaveBeenCalled();
  toStatement(sql`a = ${sql.ref('b')}`);
  expect(asked).toHaveBeenCalled();
});

it('leaves what is said in words already as it is', () => {
  const statement = { sql: 'select $1', parameters: [1] };
  expect(toStatement(statement)).toBe(statement);
});
