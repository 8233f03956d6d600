import { sql } from '../sql.ts';
import { defineOperator, type SqlSign, validateItems, validateScalar } from './define-operator.ts';
import { IN_MEMORY, type Operator, type OperatorSample, type SqlColumn } from './operator.ts';
import { bindValue, SQL_UNKNOWN, type SqlDialect, type SqlTruth } from './operator-sql.ts';
import { allTruth, describeValue, type Json, type Kind, type Truth, UNKNOWN } from './value.ts';
import { compareAs, toStored } from './value-kinds.ts';

/** Kinds whose values have an order. */
const KINDS: readonly Kind[] = ['text', 'number', 'decimal', 'date', 'timestamp', 'json'];

/** An operator that compares the order of two values. */
interface OrderOperatorSpec {
  readonly name: string;
  readonly label: string;
  readonly summary: string;
  readonly otherNames?: string;
  readonly negator: string;
  readonly commutator: string;
  readonly sign: SqlSign;
  test(order: number): boolean;
  readonly samples: readonly OperatorSample[];
}

const GREATER: OrderOperatorSpec = {
  name: 'gt',
  label: 'is greater than',
  summary: 'The value is greater. Texts are ordered by code points; decimals are compared exactly.',
  otherNames: '> greaterthan numericgreaterthan',
  negator: 'lte',
  commutator: 'lt',
  sign: '>',
  test: (order) => order > 0,
  samples: [
    { actual: 11, expected: 10, kind: 'number', result: true },
    { actual: 10, expected: 10, kind: 'number', result: false },
    { actual: 11, expected: '10', kind: 'number', result: null },
    { actual: undefined, expected: 10, kind: 'number', result: null },
    { actual: '12.30', expected: '12.299', kind: 'decimal', result: true },
  ],
};

const AT_LEAST: OrderOperatorSpec = {
  name: 'gte',
  label: 'is at least',
  summary: 'The value is greater than or equal to the other.',
  otherNames: '>= ge greaterthanorequal greaterthanorequals greaterthanorequalto greaterthaninclusive numericgreaterthanequals',
  negator: 'lt',
  commutator: 'lte',
  sign: '>=',
  test: (order) => order >= 0,
  samples: [
    { actual: 10, expected: 10, kind: 'number', result: true },
    { actual: 9, expected: 10, kind: 'number', result: false },
    { actual: '2026-02-01', expected: '2026-01-31', kind: 'date', result: true },
    { actual: '2026-02-01', expected: '2026-02-30', kind: 'date', result: null },
  ],
};

const LESS: OrderOperatorSpec = {
  name: 'lt',
  label: 'is less than',
  summary: 'The value is less. Unknown if the value is missing.',
  otherNames: '< lessthan numericlessthan',
  negator: 'gte',
  commutator: 'gt',
  sign: '<',
  test: (order) => order < 0,
  samples: [
    { actual: 'Zoe', expected: 'adam', kind: 'text', result: true },
    { actual: undefined, expected: 10, kind: 'number', result: null },
    { actual: '\u{1f600}', expected: '\ufffd', kind: 'text', result: false },
  ],
};

const AT_MOST: OrderOperatorSpec = {
  name: 'lte',
  label: 'is at most',
  summary: 'The value is less than or equal to the other.',
  otherNames: '<= le lessthanorequal lessthanorequals lessthanorequalto lessthaninclusive numericlessthanequals',
  negator: 'gt',
  commutator: 'gte',
  sign: '<=',
  test: (order) => order <= 0,
  samples: [
    { actual: 10, expected: 10, kind: 'number', result: true },
    { actual: 11, expected: 10, kind: 'number', result: false },
    { actual: 'a', expected: 10, result: null },
  ],
};

/** Greater than. */
export const gt: Operator = defineOrder(GREATER);
/** Greater than or equal. */
export const gte: Operator = defineOrder(AT_LEAST);
/** Less than. */
export const lt: Operator = defineOrder(LESS);
/** Less than or equal. */
export const lte: Operator = defineOrder(AT_MOST);

export const between: Operator = defineOperator({
  name: 'between',
  label: 'is between',
  summary: 'The value is between the two values of the list, which are included.',
  otherNames: 'inrange isinrange range',
  kinds: KINDS,
  operand: 'range',
  itemwise: { join: 'all', operators: ['gte', 'lte'] },
  validateOperand(expected, { kind }) {
    if (!Array.isArray(expected) || expected.length !== 2) return `expected a list of two values, given ${describeValue(expected)}`;
    return validateItems(expected, (item) => validateOrdered(item, kind));
  },
  evaluate(actual, expected, { kind }) {
    const range = toBounds(expected);
    if (range === undefined) return UNKNOWN;
    return allTruth(range, ([spec, bound]) => isOrdered(spec, kind, [actual, bound]));
  },
  compile(column, expected, { dialect }) {
    const range = toBounds(expected);
    if (range === undefined) return SQL_UNKNOWN;
    const [low, high] = range.map(([spec, bound]) => orderSql(spec, { column, expected: bound, dialect }));
    if (low === undefined || high === undefined || low === IN_MEMORY || high === IN_MEMORY) return IN_MEMORY;
    return sql<boolean | null>`(${low} AND ${high})`;
  },
  samples: [
    { actual: 5, expected: [1, 5], kind: 'number', result: true },
    { actual: 6, expected: [1, 5], kind: 'number', result: false },
    { actual: 6, expected: ['1', 5], kind: 'number', result: false },
    { actual: 3, expected: ['1', 5], kind: 'number', result: null },
    { actual: '2026-01-15', expected: ['2026-01-01', '2026-01-31'], kind: 'date', result: true },
  ],
});

function defineOrder(spec: OrderOperatorSpec): Operator {
  const { sign: _, test: __, ...rest } = spec;
  return defineOperator({
    ...rest,
    kinds: KINDS,
    operand: 'scalar',
    validateOperand: (expected, { kind }) => validateOrdered(expected, kind),
    evaluate: (actual, expected, { kind }) => isOrdered(spec, kind, [actual, expected]),
    compile: (column, expected, { dialect }) => orderSql(spec, { column, expected, dialect }),
    columnSign: spec.sign,
  });
}

function isOrdered(spec: OrderOperatorSpec, kind: Kind | undefined, [actual, expected]: readonly [Json, Json]): Truth {
  // Booleans have no order. Without a kind, only the value shows that it is a boolean.
  const order = typeof actual === 'boolean' ? undefined : compareAs(kind, actual, expected);
  return order === undefined ? UNKNOWN : spec.test(order);
}

/** The two sides of an order comparison. */
interface OrderSides {
  readonly column: SqlColumn;
  readonly expected: Json;
  readonly dialect: SqlDialect;
}

function orderSql({ sign }: OrderOperatorSpec, { column, expected, dialect }: OrderSides): SqlTruth | typeof IN_MEMORY {
  const stored = toStored(column, column.kind, expected);
  if (!stored.fits) return SQL_UNKNOWN;
  return stored.bound === undefined
    ? IN_MEMORY
    : sql<boolean | null>`${column.sql} ${sql.raw(sign)} ${bindValue(stored.bound, { kind: column.kind, dialect })}`;
}

function toBounds(expected: Json): readonly [readonly [OrderOperatorSpec, Json], readonly [OrderOperatorSpec, Json]] | undefined {
  if (!Array.isArray(expected) || expected.length !== 2) return undefined;
  return [
    [AT_LEAST, expected[0]],
    [AT_MOST, expected[1]],
  ];
}

function validateOrdered(value: Json, kind: Kind | undefined): string | undefined {
  return typeof value === 'boolean' ? `expected a value with an order, given ${value}` : validateScalar(value, kind);
}
