import { sql } from '../sql.ts';
import { defineOperator, validateBoolean } from './define-operator.ts';
import type { Operator } from './operator.ts';
import { SQL_UNKNOWN, type SqlTruth, wherePresent } from './operator-sql.ts';
import { type Json, type Kind, UNKNOWN } from './value.ts';

const EVERY_KIND: readonly Kind[] = ['text', 'number', 'decimal', 'boolean', 'date', 'timestamp', 'list', 'json'];

export const exists: Operator = Object.freeze({
  name: 'exists',
  label: 'has a value',
  summary: 'With `true`: the value is present. With `false`: it is missing. JSON null is a present value.',
  otherNames: 'defined present nnull notnull isnotnull haskey isset',
  kinds: EVERY_KIND,
  operand: 'boolean',
  definedOnMissing: true,
  validateOperand: validateBoolean,
  evaluate: (actual: Json | undefined, expected: Json) => (typeof expected === 'boolean' ? (actual !== undefined) === expected : UNKNOWN),
  compileSql: (column, expected) => (typeof expected === 'boolean' ? presence(column.sql, expected) : SQL_UNKNOWN),
  compileJsonSql: ({ type }, expected) => (typeof expected === 'boolean' ? presence(type, expected) : SQL_UNKNOWN),
  samples: [
    { actual: 'x', expected: true, kind: 'text', result: true },
    { actual: undefined, expected: true, kind: 'text', result: false },
    { actual: undefined, expected: false, kind: 'text', result: true },
    { actual: null, expected: true, result: true },
  ],
} satisfies Operator);

export const isNull: Operator = Object.freeze({
  name: 'isNull',
  label: 'is empty of value',
  summary: 'With `true`: the value is missing or JSON null. With `false`: it is neither.',
  otherNames: 'null',
  kinds: EVERY_KIND,
  operand: 'boolean',
  definedOnMissing: true,
  validateOperand: validateBoolean,
  evaluate: (actual: Json | undefined, expected: Json) =>
    typeof expected === 'boolean' ? (actual === undefined || actual === null) === expected : UNKNOWN,
  // A column of JSON stores JSON null as the text `null`, not as SQL NULL.
  compileSql(column, expected) {
    if (typeof expected !== 'boolean') return SQL_UNKNOWN;
    if (column.kind !== 'json') return presence(column.sql, !expected);
    const isNothing = sql<boolean | null>`(${column.sql} IS NULL OR CAST(${column.sql} AS TEXT) = 'null')`;
    return expected ? isNothing : sql<boolean | null>`NOT ${isNothing}`;
  },
  compileJsonSql({ type }, expected) {
    if (typeof expected !== 'boolean') return SQL_UNKNOWN;
    return sql<boolean | null>`coalesce(${type}, 'null') ${sql.raw(expected ? '=' : '<>')} 'null'`;
  },
  samples: [
    { actual: undefined, expected: true, kind: 'text', result: true },
    { actual: null, expected: true, result: true },
    { actual: '', expected: true, kind: 'text', result: false },
    { actual: '', expected: false, kind: 'text', result: true },
  ],
} satisfies Operator);

export const empty: Operator = defineOperator({
  name: 'empty',
  label: 'is empty',
  summary: 'With `true`: the text or list is empty. With `false`: it is not. Unknown if the value is missing.',
  otherNames: 'nempty',
  kinds: ['text', 'list', 'json'],
  operand: 'boolean',
  validateOperand: validateBoolean,
  evaluate(actual, expected) {
    if (typeof expected !== 'boolean' || !(typeof actual === 'string' || Array.isArray(actual))) return UNKNOWN;
    return (actual.length === 0) === expected;
  },
  compile({ sql: column, kind }, expected, { dialect }) {
    if (typeof expected !== 'boolean') return SQL_UNKNOWN;
    if (kind === 'text') return expected ? sql<boolean | null>`${column} = ''` : sql<boolean | null>`${column} <> ''`;
    const some = sql`EXISTS (SELECT 1 FROM ${dialect.listItems(column)})`;
    return wherePresent(column, expected ? sql`NOT ${some}` : some);
  },
  samples: [
    { actual: '', expected: true, kind: 'text', result: true },
    { actual: ' ', expected: true, kind: 'text', result: false },
    { actual: [], expected: true, kind: 'list', itemKind: 'text', result: true },
    { actual: ['a'], expected: false, kind: 'list', itemKind: 'text', result: true },
    { actual: undefined, expected: true, kind: 'text', result: null },
  ],
});

function presence(column: Parameters<typeof wherePresent>[0], wanted: boolean): SqlTruth {
  return wanted ? sql<boolean | null>`${column} IS NOT NULL` : sql<boolean | null>`${column} IS NULL`;
}
