import { type Sql, sql } from '../sql.ts';
import { checkItems, checkScalar, defineNegation, defineOperator } from './define-operator.ts';
import { IN_MEMORY, type Operator, type SqlAround, type SqlSubject } from './operator.ts';
import { type BoundFor, boundValue, falseWherePresent, oneOf, SQL_UNKNOWN, type SqlTruth } from './operator-sql.ts';
import { anyTruth, type Json, type Kind, type Truth, UNKNOWN } from './value.ts';
import { compareAs, toStored } from './value-kinds.ts';

/** Kinds whose values can be equal. Lists and objects never are: `has` and its kin ask about their items. */
const KINDS: readonly Kind[] = ['text', 'number', 'decimal', 'boolean', 'date', 'timestamp', 'json'];

/** Whether two values are equal as `kind`. Null equals null and no other value; lists and objects compare with nothing. */
export function isEqual(actual: Json, expected: Json, kind: Kind | undefined): Truth {
  // What most comparisons are about, told without being read as a kind first.
  if (kind === 'text' && typeof actual === 'string' && typeof expected === 'string') return isSameText(actual, expected);
  if (isStructure(actual) || isStructure(expected)) return UNKNOWN;
  if (actual === null || expected === null) return actual === expected;
  const order = compareAs(kind, actual, expected);
  return order === undefined ? UNKNOWN : order === 0;
}

export const eq: Operator = defineOperator({
  name: 'eq',
  label: 'is',
  summary: 'The values are equal. Types are never coerced: "10" is not 10, comparing them is unknown.',
  kinds: KINDS,
  operand: 'scalar',
  negation: 'ne',
  mirror: 'eq',
  nullIsValue: true,
  checkOperand: (expected, { kind }) => checkEqual(expected, kind),
  answer: (actual, expected, { kind }) => isEqual(actual, expected, kind),
  sql: (subject, expected, around) => anyEqual(subject, [expected], around),
  columnSign: '=',
  samples: [
    { actual: 'sales', expected: 'sales', kind: 'text', answer: true },
    { actual: 'sales', expected: 'Sales', kind: 'text', answer: false },
    { actual: 10, expected: '10', kind: 'number', answer: null },
    { actual: undefined, expected: 'sales', kind: 'text', answer: null },
    { actual: 'sales', expected: null, kind: 'text', answer: false },
    { actual: null, expected: null, answer: true },
    { actual: '12.30', expected: 12.3, kind: 'decimal', answer: true },
    { actual: '2026-01-31T09:00:00.000Z', expected: '2026-01-31T10:00:00+01:00', kind: 'timestamp', answer: true },
  ],
});

export const ne: Operator = defineNegation(eq, {
  name: 'ne',
  label: 'is not',
  summary: 'The values differ. A missing value is unknown, not different.',
});

export const isIn: Operator = defineOperator({
  name: 'in',
  label: 'is one of',
  summary: 'The value equals one of the list. Nothing is in an empty list.',
  kinds: KINDS,
  operand: 'scalars',
  negation: 'nin',
  mirror: 'has',
  itemwise: { join: 'any', operators: ['eq'] },
  nullIsValue: true,
  checkOperand: (expected, { kind }) => checkItems(expected, (item) => checkEqual(item, kind)),
  answer: (actual, expected, { kind }) =>
    Array.isArray(expected) ? anyTruth(expected, (item: Json) => isEqual(actual, item, kind)) : UNKNOWN,
  sql: (subject, expected, around) => (Array.isArray(expected) ? anyEqual(subject, expected, around) : SQL_UNKNOWN),
  samples: [
    { actual: 'draft', expected: ['draft', 'published'], kind: 'text', answer: true },
    { actual: 'archived', expected: ['draft', 'published'], kind: 'text', answer: false },
    { actual: 'draft', expected: [], kind: 'text', answer: false },
    { actual: 3, expected: [1, '2'], kind: 'number', answer: null },
    { actual: undefined, expected: [], kind: 'text', answer: null },
  ],
});

export const nin: Operator = defineNegation(isIn, {
  name: 'nin',
  label: 'is none of',
  summary: 'The value equals none of the list. A missing value is unknown.',
  itemwise: { join: 'all', operators: ['ne'] },
});

/** Equal to any of `expected`: known values that no column holds are equal to none; one that does not fit leaves "no" unknown. */
function anyEqual(subject: SqlSubject, expected: readonly Json[], { dialect }: SqlAround): SqlTruth | typeof IN_MEMORY {
  const of = { kind: subject.kind, dialect };
  const bound = new Set<unknown>();
  let unfit = false;
  for (const value of expected) {
    const stored = value === null ? { fits: true as const } : toStored(subject, subject.kind, value);
    if (!stored.fits) unfit = true;
    else if (stored.bound !== undefined) bound.add(stored.bound);
    // Of all kinds, only decimals and texts have values that fit and that a column cannot hold.
    else if (value !== null && subject.kind !== 'decimal' && subject.kind !== 'text') return IN_MEMORY;
  }
  if (bound.size === 0) return unfit ? SQL_UNKNOWN : falseWherePresent(subject.sql);
  const truth =
    bound.size === 1 ? sql<boolean | null>`${subject.sql} = ${soleValue(subject, [...bound][0], of)}` : oneOf(subject.sql, [...bound], of);
  if (truth === undefined) return IN_MEMORY;
  return unfit ? sql<boolean | null>`(${truth} OR NULL)` : truth;
}

/** Where a partial index holds the rows of this value, as its text says it. */
function soleValue(subject: SqlSubject, value: unknown, of: BoundFor): Sql {
  const written = subject.isIndexed?.(value) ? of.dialect.indexedValue?.(value) : undefined;
  return written ?? boundValue(value, of);
}

function checkEqual(expected: Json, kind: Kind | undefined): string | undefined {
  return expected === null ? undefined : checkScalar(expected, kind);
}

function isStructure(value: Json): boolean {
  return typeof value === 'object' && value !== null;
}

/** Half of a surrogate pair reads as U+FFFD, which is one unit too: texts of different lengths are never the same. */
function isSameText(a: string, b: string): boolean {
  return a === b || (a.length === b.length && a.toWellFormed() === b.toWellFormed());
}
