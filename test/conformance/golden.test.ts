import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { IN_MEMORY, type Json, OPERATORS, type Operator, type SqlDialect } from '../../src/operators/index.ts';
import { renderSql, type Sql, sql } from '../../src/sql.ts';
import { postgresDialect } from '../../src/storage/postgres/sql-dialect.ts';
import { sqliteDialect } from '../../src/storage/sqlite/sql-dialect.ts';
import { COLUMNS, type Column, NOW, subjectOf, TIME_ZONE } from './hostile-table.ts';

describe.each([sqliteDialect, postgresDialect])('the SQL of each operator for $name', (dialect) => {
  const golden = new URL(`../golden/operators.${dialect.name}.sql`, import.meta.url);

  it(`the SQL of each operator for ${dialect.name} equals the reviewed file (UPDATE_GOLDEN=1 writes it)`, () => {
    const now = [...OPERATORS.values()].map((operator) => {
      const { name, samples } = operator;
      const [sample] = samples.filter(({ result, kind }) => result === true && kind !== undefined);
      const column = COLUMNS.find(({ kind }) => kind.kind === sample?.kind && kind.itemKind === sample?.itemKind);
      if (sample === undefined || column === undefined) throw new Error(`${name} has no true sample with a kind`);
      return `-- ${name} ${JSON.stringify(sample.expected)}\n${compiledForms(dialect, operator, { column, expected: sample.expected }).join('\n')}\n`;
    });
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, now.join('\n'));
    expect(now.join('\n')).toBe(readFileSync(golden, 'utf8'));
  });
});

/** The SQL for a column, for two columns if the operator compares columns, and for a value jsonPath JSON. */
function compiledForms(
  dialect: SqlDialect,
  { compileSql, compileColumnsSql, compileJsonSql }: Operator,
  { column, expected }: { readonly column: Column; readonly expected: Json },
): readonly string[] {
  const context = { comparison: { ...column.kind, now: NOW, timeZone: TIME_ZONE }, dialect };
  const field = { ...subjectOf(column), sql: sql.ref('field') };
  const jsonPath = dialect.jsonAt(sql.ref('json'), ['key']);
  return [
    textOf(dialect, compileSql(field, expected, context)),
    ...(compileColumnsSql === undefined ? [] : [textOf(dialect, compileColumnsSql(field, { ...field, sql: sql.ref('other') }, context))]),
    textOf(dialect, compileJsonSql(jsonPath, expected, { ...context, comparison: { now: NOW, timeZone: TIME_ZONE } })),
  ];
}

function textOf(dialect: SqlDialect, truth: Sql | typeof IN_MEMORY): string {
  if (truth === IN_MEMORY) return '-- in memory';
  const { sql: text, parameters } = renderSql(truth, dialect.placeholder);
  return parameters.length === 0
    ? `${text};`
    : `${text}; -- ${JSON.stringify(parameters, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}`;
}
