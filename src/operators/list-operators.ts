import { type Sql, sql } from '../sql.ts';
import { defineOperator, validateItems, validateScalar } from './define-operator.ts';
import { isEqual } from './equality.ts';
import { IN_MEMORY, type Operator, type OperatorSample, type SqlColumn } from './operator.ts';
import { inList, type SqlDialect, type SqlTruth, wherePresent } from './operator-sql.ts';
import { allTruth, anyTruth, type Json, type Kind, type Truth, UNKNOWN } from './value.ts';
import { canonicalAs, toStored } from './value-kinds.ts';

/** An operator that compares the items of a list with several values. */
interface ListOperatorSpec {
  readonly name: string;
  readonly label: string;
  readonly summary: string;
  readonly otherNames?: string;
  readonly commutator: string;
  test(items: readonly Json[], expected: readonly Json[], itemKind: Kind | undefined): Truth;
  /** Compiles the comparison of a present list. `items` is a table expression with a row for each item and one column, `value`. */
  compile(items: Sql, wanted: WantedItems): SqlTruth;
  readonly samples: readonly OperatorSample[];
}

/** The operand in SQL: the number of distinct values, and a condition that is true if `value` is one of them. */
interface WantedItems {
  readonly count: number;
  readonly isWanted: SqlTruth;
  /** The column `value`, cast to the type that is compared. */
  readonly value: Sql;
}

export const has: Operator = defineOperator({
  name: 'has',
  label: 'has',
  summary: 'An item of the list equals the value.',
  otherNames: 'includes arraycontains member',
  kinds: ['list', 'json'],
  operand: 'scalar',
  commutator: 'in',
  validateOperand: (expected, { itemKind }) => validateScalar(expected, itemKind),
  evaluate: (actual, expected, { itemKind }) =>
    Array.isArray(actual) ? anyTruth(actual, (item) => isEqual(item, expected, itemKind)) : UNKNOWN,
  compile: (column, expected, { dialect }) =>
    listSql(column, [expected], { compile: (items, { isWanted }) => anyWanted(items, isWanted), dialect }),
  samples: [
    { actual: ['red', 'blue'], expected: 'red', kind: 'list', itemKind: 'text', result: true },
    { actual: ['red', 'blue'], expected: 're', kind: 'list', itemKind: 'text', result: false },
    { actual: [], expected: 'red', kind: 'list', itemKind: 'text', result: false },
    { actual: [1, 2], expected: '1', kind: 'list', itemKind: 'number', result: null },
    { actual: 'red', expected: 'red', result: null },
  ],
});

export const hasAny: Operator = defineListOperator({
  name: 'hasAny',
  label: 'has any of',
  summary: 'The list contains at least one of the values. False for an empty list of values.',
  otherNames: '&& overlap overlaps ov intersects containsany arraycontainsany hassome some',
  commutator: 'hasAny',
  test: (items, expected, itemKind) => anyTruth(expected, createItemLookup(items, itemKind)),
  compile: (items, { isWanted }) => anyWanted(items, isWanted),
  samples: [
    { actual: ['red', 'blue'], expected: ['green', 'blue'], kind: 'list', itemKind: 'text', result: true },
    { actual: ['red'], expected: ['green', 'blue'], kind: 'list', itemKind: 'text', result: false },
    { actual: ['red'], expected: [], kind: 'list', itemKind: 'text', result: false },
  ],
});

export const hasAll: Operator = defineListOperator({
  name: 'hasAll',
  label: 'has all of',
  summary: 'The list contains all of the values. True for an empty list of values.',
  otherNames: '@> cs containsall arraycontainsall hasevery every all hasallof',
  commutator: 'subsetOf',
  test: (items, expected, itemKind) => allTruth(expected, createItemLookup(items, itemKind)),
  compile: (items, { count, isWanted, value }) =>
    sql<boolean | null>`(SELECT count(DISTINCT ${value}) FROM ${items} WHERE ${isWanted}) = ${count}`,
  samples: [
    { actual: ['red', 'blue', 'red'], expected: ['red', 'blue'], kind: 'list', itemKind: 'text', result: true },
    { actual: ['red'], expected: ['red', 'blue'], kind: 'list', itemKind: 'text', result: false },
    { actual: ['red'], expected: [], kind: 'list', itemKind: 'text', result: true },
  ],
});

export const subsetOf: Operator = defineListOperator({
  name: 'subsetOf',
  label: 'has only',
  summary: 'Every item of the list is one of the values. True for an empty list.',
  otherNames: '<@ cd containedby containedin subset issubset issubsetof',
  commutator: 'hasAll',
  test: (items, expected, itemKind) => allTruth(items, createItemLookup(expected, itemKind)),
  compile: (items, { isWanted }) => sql<boolean | null>`NOT EXISTS (SELECT 1 FROM ${items} WHERE NOT (${isWanted}))`,
  samples: [
    { actual: ['red', 'red'], expected: ['red', 'blue'], kind: 'list', itemKind: 'text', result: true },
    { actual: ['red', 'green'], expected: ['red', 'blue'], kind: 'list', itemKind: 'text', result: false },
    { actual: [], expected: [], kind: 'list', itemKind: 'text', result: true },
  ],
});

function defineListOperator(spec: ListOperatorSpec): Operator {
  return defineOperator({
    ...spec,
    kinds: ['list', 'json'],
    operand: 'scalars',
    validateOperand: (expected, { itemKind }) => validateItems(expected, (item) => validateScalar(item, itemKind)),
    evaluate: (actual, expected, { itemKind }) =>
      Array.isArray(actual) && Array.isArray(expected) ? spec.test(actual, expected, itemKind) : UNKNOWN,
    compile: (column, expected, { dialect }) =>
      Array.isArray(expected) ? listSql(column, expected, { compile: spec.compile, dialect }) : IN_MEMORY,
  });
}

/** Kinds of items that SQL compares in their stored form. Decimals and booleans in stored JSON have another form than in a column. */
const STORED_ALIKE: readonly (Kind | undefined)[] = ['text', 'number', 'date', 'timestamp'];

/** Compiles a list operator. If a value does not fit the kind, the result is unknown only for some rows: the comparison is evaluated in memory. */
function listSql(
  column: SqlColumn,
  expected: readonly Json[],
  { compile, dialect }: { compile: ListOperatorSpec['compile']; dialect: SqlDialect },
): SqlTruth | typeof IN_MEMORY {
  const { itemKind } = column;
  if (itemKind === undefined || !STORED_ALIKE.includes(itemKind)) return IN_MEMORY;
  const bound = new Set<unknown>();
  for (const value of expected) {
    const stored = toStored(column, itemKind, value);
    if (!stored.fits || stored.bound === undefined) return IN_MEMORY;
    bound.add(stored.bound);
  }
  // A database may parse a large number in stored JSON as an integer with more digits than a double has: compare both as doubles.
  const value = itemKind === 'number' ? sql`CAST(value AS DOUBLE PRECISION)` : sql`value`;
  const isWanted = bound.size === 0 ? sql<boolean | null>`FALSE` : inList(value, [...bound], { kind: itemKind, dialect });
  if (isWanted === undefined) return IN_MEMORY;
  return wherePresent(column.sql, compile(dialect.listItems(column.sql), { count: bound.size, isWanted, value }));
}

function anyWanted(items: Sql, isWanted: SqlTruth): SqlTruth {
  return sql<boolean | null>`EXISTS (SELECT 1 FROM ${items} WHERE ${isWanted})`;
}

/**
 * Creates a function that returns true if a value equals any item of a list, with the same three-valued result as `anyTruth` with
 * `isEqual`. Both lists of a comparison may come from a client, so the time is proportional to the sum of their lengths, not to the product.
 */
export function createItemLookup(items: readonly Json[], kind: Kind | undefined): (value: Json) => Truth {
  const keys = new Set<string>();
  /** JSON types of the items in `keys`. Without a kind, a value of another type cannot be compared with them. */
  const types = new Set<string>();
  let [nulls, structures, misfits] = [false, false, false];
  for (const item of items) {
    const key = keyOf(item, kind);
    if (item === null) nulls = true;
    else if (typeof item === 'object') structures = true;
    else if (key === undefined) misfits = true;
    else {
      keys.add(key);
      if (kind === undefined || kind === 'json') types.add(typeof item);
    }
  }
  const broken = structures || misfits;
  return (value) => {
    if (items.length === 0) return false;
    if (value === null) return nulls || (structures ? UNKNOWN : false);
    const key = keyOf(value, kind);
    if (typeof value === 'object') return UNKNOWN;
    if (key === undefined) return broken || keys.size > 0 ? UNKNOWN : false;
    if (keys.has(key)) return true;
    return broken || types.size > (types.has(typeof value) ? 1 : 0) ? UNKNOWN : false;
  };
}

/** Returns the same key for equal values; undefined for null, lists, objects and values that do not fit. */
function keyOf(value: Json, kind: Kind | undefined): string | undefined {
  if (value === null || typeof value === 'object') return undefined;
  const canonical = canonicalAs(kind ?? 'json', value);
  return canonical === undefined ? undefined : `${typeof canonical} ${canonical}`;
}
