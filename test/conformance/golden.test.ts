import { readFileSync, writeFileSync } from 'node:fs';
import { DummyDriver, Kysely, type RawBuilder, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { IN_MEMORY, OPERATORS } from '../../src/operators/index.ts';
import { sqliteDialect } from '../../src/storage/sqlite/sql-dialect.ts';
import { COLUMNS, NOW, subjectOf, TIME_ZONE } from './hostile-table.ts';

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
    const now = [...OPERATORS.values()].map(({ name, samples, toSql }) => {
      const [sample] = samples.filter(({ answer, kind }) => answer === true && kind !== undefined);
      const column = COLUMNS.find(({ kind }) => kind.kind === sample?.kind && kind.itemKind === sample?.itemKind);
      if (sample === undefined || column === undefined) throw new Error(`${name} needs a sample that is true and says its kind`);
      const frame = { ...column.kind, now: NOW, timeZone: TIME_ZONE };
      const truth = toSql({ ...subjectOf(column), sql: sql.ref('field') }, sample.expected, { frame, dialect: sqliteDialect });
      return `-- ${name} ${JSON.stringify(sample.expected)}\n${truth === IN_MEMORY ? '-- in memory' : textOf(truth)}\n`;
    });
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, now.join('\n'));
    expect(now.join('\n')).toBe(readFileSync(GOLDEN, 'utf8'));
  });
});

function textOf(truth: RawBuilder<unknown>): string {
  const { sql: text, parameters } = truth.compile(compiler);
  return parameters.length === 0
    ? `${text};`
    : `${text}; -- ${JSON.stringify(parameters, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}`;
}
