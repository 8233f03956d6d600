import { sql } from '../sql.ts';
import { checkBoolean, defineOperator } from './define-operator.ts';
import type { Operator } from './operator.ts';
import { SQL_UNKNOWN, type SqlTruth, wherePresent } from './operator-sql.ts';
import { type Json, type Kind, UNKNOWN } from './value.ts';

const EVERY_KIND: readonly Kind[] = ['text', 'number', 'decimal', 'boolean', 'date', 'timestamp', 'list', 'json'];

export const exists: Operator = Object.freeze({
  name: 'exists',
  label: 'has a value',
  summary: 'Whether there is a value at all; JSON null is one. The operand says which answer is wanted.',
  kinds: EVERY_KIND,
  operand: 'boolean',
  definedOnMissing: true,
  checkOperand: checkBoolean,
  matches: (actual: Json | undefined, expected: Json) => (typeof expected === 'boolean' ? (actual !== undefined) === expected : UNKNOWN),
  toSql: (subject, expected) => (typeof expected === 'boolean' ? presence(subject.sql, expected) : SQL_UNKNOWN),
  jsonToSql: ({ type }, expected) => (typeof expected === 'boolean' ? presence(type, expected) : SQL_UNKNOWN),
  samples: [
    { actual: 'x', expected: true, kind: 'text', answer: true },
    { actual: undefined, expected: true, kind: 'text', answer: false },
    { actual: undefined, expected: false, kind: 'text', answer: true },
    { actual: null, expected: true, answer: true },
  ],
} satisfies Operator);

export const isNull: Operator = Object.freeze({
  name: 'isNull',
  label: 'is empty of value',
  summary: 'Whether the value is missing or JSON null. The operand says which answer is wanted.',
  kinds: EVERY_KIND,
  operand: 'boolean',
  definedOnMissing: true,
  checkOperand: checkBoolean,
  matches: (actual: Json | undefined, expected: Json) =>
    typeof expected === 'boolean' ? (actual === undefined || actual === null) === expected : UNKNOWN,
  // A stored JSON null is a value in its column (the text `null`), and null all the same.
  toSql(subject, expected) {
    if (typeof expected !== 'boolean') return SQL_UNKNOWN;
    if (subject.kind !== 'json') return presence(subject.sql, !expected);
    const isNothing = sql<boolean | null>`(${subject.sql} IS NULL OR CAST(${subject.sql} AS TEXT) = 'null')`;
    return expected ? isNothing : sql<boolean | null>`NOT ${isNothing}`;
  },
  jsonToSql({ type }, expected) {
    if (typeof expected !== 'boolean') return SQL_UNKNOWN;
    return sql<boolean | null>`coalesce(${type}, 'null') ${sql.raw(expected ? '=' : '<>')} 'null'`;
  },
  samples: [
    { actual: undefined, expected: true, kind: 'text', answer: true },
    { actual: null, expected: true, answer: true },
    { actual: '', expected: true, kind: 'text', answer: false },
    { actual: '', expected: false, kind: 'text', answer: true },
  ],
} satisfies Operator);

export const empty: Operator = defineOperator({
  name: 'empty',
  label: 'is empty',
  summary: 'Whether the text is "" or the list has no items. A missing value is unknown.',
  kinds: ['text', 'list', 'json'],
  operand: 'boolean',
  checkOperand: checkBoolean,
  answer(actual, expected) {
    if (typeof expected !== 'boolean' || !(typeof actual === 'string' || Array.isArray(actual))) return UNKNOWN;
    return (actual.length === 0) === expected;
  },
  sql({ sql: column, kind }, expected, { dialect }) {
    if (typeof expected !== 'boolean') return SQL_UNKNOWN;
    if (kind === 'text') return expected ? sql<boolean | null>`${column} = ''` : sql<boolean | null>`${column} <> ''`;
    const some = sql`EXISTS (SELECT 1 FROM ${dialect.listItems(column)})`;
    return wherePresent(column, expected ? sql`NOT ${some}` : some);
  },
  samples: [
    { actual: '', expected: true, kind: 'text', answer: true },
    { actual: ' ', expected: true, kind: 'text', answer: false },
    { actual: [], expected: true, kind: 'list', itemKind: 'text', answer: true },
    { actual: ['a'], expected: false, kind: 'list', itemKind: 'text', answer: true },
    { actual: undefined, expected: true, kind: 'text', answer: null },
  ],
});

function presence(column: Parameters<typeof wherePresent>[0], wanted: boolean): SqlTruth {
  return wanted ? sql<boolean | null>`${column} IS NOT NULL` : sql<boolean | null>`${column} IS NULL`;
}
