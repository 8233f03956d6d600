import { type Sql, sql } from '../sql.ts';
import { defineNegation, defineOperator, validateItems, validateScalar } from './define-operator.ts';
import { IN_MEMORY, type Operator, type SqlColumn, type SqlContext } from './operator.ts';
import { bindValue, falseWherePresent, inList, type ParameterTarget, SQL_UNKNOWN, type SqlTruth } from './operator-sql.ts';
import { anyTruth, type Json, type Kind, type Truth, UNKNOWN } from './value.ts';
import { compareAs, toStored } from './value-kinds.ts';

/** Kinds whose values can be equal. Lists and objects cannot: `has`, `hasAny`, `hasAll` and `subsetOf` compare the items of lists. */
const KINDS: readonly Kind[] = ['text', 'number', 'decimal', 'boolean', 'date', 'timestamp', 'json'];

/** Returns true if two values are equal as `kind`. Null equals only null. Unknown for a list, an object, or a value that does not fit the kind. */
export function isEqual(actual: Json, expected: Json, kind: Kind | undefined): Truth {
  // Fast path: most comparisons are of two texts.
  if (kind === 'text' && typeof actual === 'string' && typeof expected === 'string') return isSameText(actual, expected);
  if (isStructure(actual) || isStructure(expected)) return UNKNOWN;
  if (actual === null || expected === null) return actual === expected;
  const order = compareAs(kind, actual, expected);
  return order === undefined ? UNKNOWN : order === 0;
}

export const eq: Operator = defineOperator({
  name: 'eq',
  label: 'is',
  summary: 'The values are equal. Types are not coerced: comparing "10" with 10 is unknown.',
  otherNames: '= == === equals equal equalto is stringequals numericequals dateequals bool',
  kinds: KINDS,
  operand: 'scalar',
  negator: 'ne',
  commutator: 'eq',
  nullIsValue: true,
  validateOperand: (expected, { kind }) => validateEqual(expected, kind),
  evaluate: (actual, expected, { kind }) => isEqual(actual, expected, kind),
  compile: (column, expected, context) => anyEqual(column, [expected], context),
  columnSign: '=',
  samples: [
    { actual: 'sales', expected: 'sales', kind: 'text', result: true },
    { actual: 'sales', expected: 'Sales', kind: 'text', result: false },
    { actual: 10, expected: '10', kind: 'number', result: null },
    { actual: undefined, expected: 'sales', kind: 'text', result: null },
    { actual: 'sales', expected: null, kind: 'text', result: false },
    { actual: null, expected: null, result: true },
    { actual: '12.30', expected: 12.3, kind: 'decimal', result: true },
    { actual: '2026-01-31T09:00:00.000Z', expected: '2026-01-31T10:00:00+01:00', kind: 'timestamp', result: true },
  ],
});

export const ne: Operator = defineNegation(eq, {
  name: 'ne',
  label: 'is not',
  summary: 'The values differ. Unknown if the value is missing.',
  otherNames: '!= !== <> neq not notequals notequal notequalto isnot stringnotequals numericnotequals',
});

export const isIn: Operator = defineOperator({
  name: 'in',
  label: 'is one of',
  summary: 'The value equals an item of the list. False for an empty list.',
  otherNames: 'oneof isoneof anyof isin',
  kinds: KINDS,
  operand: 'scalars',
  negator: 'nin',
  commutator: 'has',
  itemwise: { join: 'any', operators: ['eq'] },
  nullIsValue: true,
  validateOperand: (expected, { kind }) => validateItems(expected, (item) => validateEqual(item, kind)),
  evaluate: (actual, expected, { kind }) =>
    Array.isArray(expected) ? anyTruth(expected, (item: Json) => isEqual(actual, item, kind)) : UNKNOWN,
  compile: (column, expected, context) => (Array.isArray(expected) ? anyEqual(column, expected, context) : SQL_UNKNOWN),
  samples: [
    { actual: 'draft', expected: ['draft', 'published'], kind: 'text', result: true },
    { actual: 'archived', expected: ['draft', 'published'], kind: 'text', result: false },
    { actual: 'draft', expected: [], kind: 'text', result: false },
    { actual: 3, expected: [1, '2'], kind: 'number', result: null },
    { actual: undefined, expected: [], kind: 'text', result: null },
  ],
});

export const nin: Operator = defineNegation(isIn, {
  name: 'nin',
  label: 'is none of',
  summary: 'The value equals no item of the list. Unknown if the value is missing.',
  otherNames: 'notin noneof isnotoneof notanyof',
  itemwise: { join: 'all', operators: ['ne'] },
});

/**
 * Compiles "equals any of `expected`". A value that fits the kind but that no column can store equals no stored value. A value that
 * does not fit makes the result unknown unless another value is equal.
 */
function anyEqual(column: SqlColumn, expected: readonly Json[], { dialect }: SqlContext): SqlTruth | typeof IN_MEMORY {
  const of = { kind: column.kind, dialect };
  const bound = new Set<unknown>();
  let unfit = false;
  for (const value of expected) {
    const stored = value === null ? { fits: true as const } : toStored(column, column.kind, value);
    if (!stored.fits) unfit = true;
    else if (stored.bound !== undefined) bound.add(stored.bound);
    // Only decimals and texts have values that fit the kind and that a column cannot store.
    else if (value !== null && column.kind !== 'decimal' && column.kind !== 'text') return IN_MEMORY;
  }
  if (bound.size === 0) return unfit ? SQL_UNKNOWN : falseWherePresent(column.sql);
  const truth =
    bound.size === 1 ? sql<boolean | null>`${column.sql} = ${soleValue(column, [...bound][0], of)}` : inList(column.sql, [...bound], of);
  if (truth === undefined) return IN_MEMORY;
  return unfit ? sql<boolean | null>`(${truth} OR NULL)` : truth;
}

/** Renders the value as a literal if that lets the database use a partial index, else as a parameter. */
function soleValue(column: SqlColumn, value: unknown, of: ParameterTarget): Sql {
  const written = column.isIndexed?.(value) ? of.dialect.indexedValue?.(value) : undefined;
  return written ?? bindValue(value, of);
}

function validateEqual(expected: Json, kind: Kind | undefined): string | undefined {
  return expected === null ? undefined : validateScalar(expected, kind);
}

function isStructure(value: Json): boolean {
  return typeof value === 'object' && value !== null;
}

/** Compares texts with lone surrogates replaced by U+FFFD, as the database stores them. The replacement keeps the length, so it is compared first. */
function isSameText(a: string, b: string): boolean {
  return a === b || (a.length === b.length && a.toWellFormed() === b.toWellFormed());
}
