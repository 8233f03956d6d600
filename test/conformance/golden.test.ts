import { readFileSync, writeFileSync } from 'node:fs';
import { DummyDriver, Kysely, type RawBuilder, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { IN_MEMORY, type Json, OPERATORS, type Operator } from '../../src/operators/index.ts';
import { sqliteDialect } from '../../src/storage/sqlite/sql-dialect.ts';
import { COLUMNS, type Column, NOW, subjectOf, TIME_ZONE } from './hostile-table.ts';

const GOLDEN = new URL('../golden/operators.sqlite.sql', import.meta.url);

const compiler = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

describe('what each operator says to SQLite', () => {
  it('is what was reviewed (UPDATE_GOLDEN=1 writes it anew)', () => {
    const now = [...OPERATORS.values()].map((operator) => {
      const { name, samples } = operator;
      const [sample] = samples.filter(({ answer, kind }) => answer === true && kind !== undefined);
      const column = COLUMNS.find(({ kind }) => kind.kind === sample?.kind && kind.itemKind === sample?.itemKind);
      if (sample === undefined || column === undefined) throw new Error(`${name} needs a sample that is true and says its kind`);
      return `-- ${name} ${JSON.stringify(sample.expected)}\n${facesOf(operator, column, sample.expected).join('\n')}\n`;
    });
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, now.join('\n'));
    expect(now.join('\n')).toBe(readFileSync(GOLDEN, 'utf8'));
  });
});

/** Of a column, of two columns where they can be asked, and of what lies inside JSON. */
function facesOf({ toSql, columnsToSql, jsonToSql }: Operator, column: Column, expected: Json): readonly string[] {
  const around = { frame: { ...column.kind, now: NOW, timeZone: TIME_ZONE }, dialect: sqliteDialect };
  const field = { ...subjectOf(column), sql: sql.ref('field') };
  const inside = sqliteDialect.jsonAt(sql.ref('json'), ['key']);
  return [
    textOf(toSql(field, expected, around)),
    ...(columnsToSql === undefined ? [] : [textOf(columnsToSql(field, { ...field, sql: sql.ref('other') }, around))]),
    textOf(jsonToSql(inside, expected, { ...around, frame: { now: NOW, timeZone: TIME_ZONE } })),
  ];
}

function textOf(truth: RawBuilder<unknown> | typeof IN_MEMORY): string {
  if (truth === IN_MEMORY) return '-- in memory';
  const { sql: text, parameters } = truth.compile(compiler);
  return parameters.length === 0
    ? `${text};`
    : `${text}; -- ${JSON.stringify(parameters, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}`;
}
