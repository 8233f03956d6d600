import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { IN_MEMORY, type Json, OPERATORS, type Operator, type SqlDialect } from '../../src/operators/index.ts';
import { compose, type Sql, sql } from '../../src/sql.ts';
import { postgresDialect } from '../../src/storage/postgres/sql-dialect.ts';
import { sqliteDialect } from '../../src/storage/sqlite/sql-dialect.ts';
import { COLUMNS, type Column, NOW, subjectOf, TIME_ZONE } from './hostile-table.ts';

describe.each([sqliteDialect, postgresDialect])('what each operator says to $name', (dialect) => {
  const golden = new URL(`../golden/operators.${dialect.name}.sql`, import.meta.url);

  it('is what was reviewed (UPDATE_GOLDEN=1 writes it anew)', () => {
    const now = [...OPERATORS.values()].map((operator) => {
      const { name, samples } = operator;
      const [sample] = samples.filter(({ answer, kind }) => answer === true && kind !== undefined);
      const column = COLUMNS.find(({ kind }) => kind.kind === sample?.kind && kind.itemKind === sample?.itemKind);
      if (sample === undefined || column === undefined) throw new Error(`${name} needs a sample that is true and says its kind`);
      return `-- ${name} ${JSON.stringify(sample.expected)}\n${facesOf(dialect, operator, { column, expected: sample.expected }).join('\n')}\n`;
    });
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, now.join('\n'));
    expect(now.join('\n')).toBe(readFileSync(golden, 'utf8'));
  });
});

/** Of a column, of two columns where they can be asked, and of what lies inside JSON. */
function facesOf(
  dialect: SqlDialect,
  { toSql, columnsToSql, jsonToSql }: Operator,
  { column, expected }: { readonly column: Column; readonly expected: Json },
): readonly string[] {
  const around = { frame: { ...column.kind, now: NOW, timeZone: TIME_ZONE }, dialect };
  const field = { ...subjectOf(column), sql: sql.ref('field') };
  const inside = dialect.jsonAt(sql.ref('json'), ['key']);
  return [
    textOf(dialect, toSql(field, expected, around)),
    ...(columnsToSql === undefined ? [] : [textOf(dialect, columnsToSql(field, { ...field, sql: sql.ref('other') }, around))]),
    textOf(dialect, jsonToSql(inside, expected, { ...around, frame: { now: NOW, timeZone: TIME_ZONE } })),
  ];
}

function textOf(dialect: SqlDialect, truth: Sql | typeof IN_MEMORY): string {
  if (truth === IN_MEMORY) return '-- in memory';
  const { sql: text, parameters } = compose(truth, dialect.placeholder);
  return parameters.length === 0
    ? `${text};`
    : `${text}; -- ${JSON.stringify(parameters, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}`;
}
