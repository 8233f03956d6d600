import { readFileSync, writeFileSync } from 'node:fs';
import {
  DummyDriver,
  Kysely,
  PostgresQueryCompiler,
  type QueryCompiler,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { describe, expect, it } from 'vitest';
import { IN_MEMORY, type Json, OPERATORS, type Operator, type SqlDialect } from '../../src/operators/index.ts';
import { postgresDialect } from '../../src/storage/postgres/sql-dialect.ts';
import { sqliteDialect } from '../../src/storage/sqlite/sql-dialect.ts';
import { COLUMNS, type Column, NOW, subjectOf, TIME_ZONE } from './hostile-table.ts';

/** A database to speak to. */
interface Spoken {
  readonly dialect: SqlDialect;
  readonly compiler: Kysely<unknown>;
}

const SPOKEN: readonly Spoken[] = [
  { dialect: sqliteDialect, compiler: createCompiler(() => new SqliteQueryCompiler()) },
  { dialect: postgresDialect, compiler: createCompiler(() => new PostgresQueryCompiler()) },
];

describe.each(SPOKEN)('what each operator says to $dialect.name', (spoken) => {
  const golden = new URL(`../golden/operators.${spoken.dialect.name}.sql`, import.meta.url);

  it('is what was reviewed (UPDATE_GOLDEN=1 writes it anew)', () => {
    const now = [...OPERATORS.values()].map((operator) => {
      const { name, samples } = operator;
      const [sample] = samples.filter(({ answer, kind }) => answer === true && kind !== undefined);
      const column = COLUMNS.find(({ kind }) => kind.kind === sample?.kind && kind.itemKind === sample?.itemKind);
      if (sample === undefined || column === undefined) throw new Error(`${name} needs a sample that is true and says its kind`);
      return `-- ${name} ${JSON.stringify(sample.expected)}\n${facesOf(spoken, operator, { column, expected: sample.expected }).join('\n')}\n`;
    });
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, now.join('\n'));
    expect(now.join('\n')).toBe(readFileSync(golden, 'utf8'));
  });
});

/** Of a column, of two columns where they can be asked, and of what lies inside JSON. */
function facesOf(
  spoken: Spoken,
  { toSql, columnsToSql, jsonToSql }: Operator,
  { column, expected }: { readonly column: Column; readonly expected: Json },
): readonly string[] {
  const { dialect } = spoken;
  const around = { frame: { ...column.kind, now: NOW, timeZone: TIME_ZONE }, dialect };
  const field = { ...subjectOf(column), sql: sql.ref('field') };
  const inside = dialect.jsonAt(sql.ref('json'), ['key']);
  return [
    textOf(spoken, toSql(field, expected, around)),
    ...(columnsToSql === undefined ? [] : [textOf(spoken, columnsToSql(field, { ...field, sql: sql.ref('other') }, around))]),
    textOf(spoken, jsonToSql(inside, expected, { ...around, frame: { now: NOW, timeZone: TIME_ZONE } })),
  ];
}

function textOf({ compiler }: Spoken, truth: RawBuilder<unknown> | typeof IN_MEMORY): string {
  if (truth === IN_MEMORY) return '-- in memory';
  const { sql: text, parameters } = truth.compile(compiler);
  return parameters.length === 0
    ? `${text};`
    : `${text}; -- ${JSON.stringify(parameters, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}`;
}

function createCompiler(createQueryCompiler: () => QueryCompiler): Kysely<unknown> {
  return new Kysely<unknown>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (kysely) => new SqliteIntrospector(kysely),
      createQueryCompiler,
    },
  });
}
