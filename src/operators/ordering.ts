import { sql } from '../sql.ts';
import { checkItems, checkScalar, defineOperator, type SqlSign } from './define-operator.ts';
import { IN_MEMORY, type Operator, type OperatorSample, type SqlSubject } from './operator.ts';
import { boundValue, SQL_UNKNOWN, type SqlDialect, type SqlTruth } from './operator-sql.ts';
import { allTruth, describeValue, type Json, type Kind, type Truth, UNKNOWN } from './value.ts';
import { compareAs, toStored } from './value-kinds.ts';

/** Kinds whose values have an order. */
const KINDS: readonly Kind[] = ['text', 'number', 'decimal', 'date', 'timestamp', 'json'];

/** One of the four ways to ask about an order. */
interface OrderQuestion {
  readonly name: string;
  readonly label: string;
  readonly summary: string;
  readonly negation: string;
  readonly mirror: string;
  readonly sign: SqlSign;
  holds(order: number): boolean;
  readonly samples: readonly OperatorSample[];
}

const GREATER: OrderQuestion = {
  name: 'gt',
  label: 'is greater than',
  summary: 'The value is greater. Text goes by code points, decimals and dates exactly.',
  negation: 'lte',
  mirror: 'lt',
  sign: '>',
  holds: (order) => order > 0,
  samples: [
    { actual: 11, expected: 10, kind: 'number', answer: true },
    { actual: 10, expected: 10, kind: 'number', answer: false },
    { actual: 11, expected: '10', kind: 'number', answer: null },
    { actual: undefined, expected: 10, kind: 'number', answer: null },
    { actual: '12.30', expected: '12.299', kind: 'decimal', answer: true },
  ],
};

const AT_LEAST: OrderQuestion = {
  name: 'gte',
  label: 'is at least',
  summary: 'The value is greater or equal.',
  negation: 'lt',
  mirror: 'lte',
  sign: '>=',
  holds: (order) => order >= 0,
  samples: [
    { actual: 10, expected: 10, kind: 'number', answer: true },
    { actual: 9, expected: 10, kind: 'number', answer: false },
    { actual: '2026-02-01', expected: '2026-01-31', kind: 'date', answer: true },
    { actual: '2026-02-01', expected: '2026-02-30', kind: 'date', answer: null },
  ],
};

const LESS: OrderQuestion = {
  name: 'lt',
  label: 'is less than',
  summary: 'The value is less. A missing value is unknown, never less.',
  negation: 'gte',
  mirror: 'gt',
  sign: '<',
  holds: (order) => order < 0,
  samples: [
    { actual: 'Zoe', expected: 'adam', kind: 'text', answer: true },
    { actual: undefined, expected: 10, kind: 'number', answer: null },
    { actual: '\u{1f600}', expected: '\ufffd', kind: 'text', answer: false },
  ],
};

const AT_MOST: OrderQuestion = {
  name: 'lte',
  label: 'is at most',
  summary: 'The value is less or equal.',
  negation: 'gt',
  mirror: 'gte',
  sign: '<=',
  holds: (order) => order <= 0,
  samples: [
    { actual: 10, expected: 10, kind: 'number', answer: true },
    { actual: 11, expected: 10, kind: 'number', answer: false },
    { actual: 'a', expected: 10, answer: null },
  ],
};

/** Greater. */
export const gt: Operator = defineOrder(GREATER);
/** Greater or equal. */
export const gte: Operator = defineOrder(AT_LEAST);
/** Less. */
export const lt: Operator = defineOrder(LESS);
/** Less or equal. */
export const lte: Operator = defineOrder(AT_MOST);

export const between: Operator = defineOperator({
  name: 'between',
  label: 'is between',
  summary: 'The value lies between the two of the list, both included.',
  kinds: KINDS,
  operand: 'range',
  itemwise: { join: 'all', operators: ['gte', 'lte'] },
  checkOperand(expected, { kind }) {
    if (!Array.isArray(expected) || expected.length !== 2) return `expected a list of two values, given ${describeValue(expected)}`;
    return checkItems(expected, (item) => checkOrdered(item, kind));
  },
  answer(actual, expected, { kind }) {
    const range = readRange(expected);
    if (range === undefined) return UNKNOWN;
    return allTruth(range, ([question, bound]) => isOrdered(question, kind, [actual, bound]));
  },
  sql(subject, expected, { dialect }) {
    const range = readRange(expected);
    if (range === undefined) return SQL_UNKNOWN;
    const [low, high] = range.map(([question, bound]) => orderSql(question, { subject, expected: bound, dialect }));
    if (low === undefined || high === undefined || low === IN_MEMORY || high === IN_MEMORY) return IN_MEMORY;
    return sql<boolean | null>`(${low} AND ${high})`;
  },
  samples: [
    { actual: 5, expected: [1, 5], kind: 'number', answer: true },
    { actual: 6, expected: [1, 5], kind: 'number', answer: false },
    { actual: 6, expected: ['1', 5], kind: 'number', answer: false },
    { actual: 3, expected: ['1', 5], kind: 'number', answer: null },
    { actual: '2026-01-15', expected: ['2026-01-01', '2026-01-31'], kind: 'date', answer: true },
  ],
});

function defineOrder(question: OrderQuestion): Operator {
  const { sign: _, holds: __, ...rest } = question;
  return defineOperator({
    ...rest,
    kinds: KINDS,
    operand: 'scalar',
    checkOperand: (expected, { kind }) => checkOrdered(expected, kind),
    answer: (actual, expected, { kind }) => isOrdered(question, kind, [actual, expected]),
    sql: (subject, expected, { dialect }) => orderSql(question, { subject, expected, dialect }),
    columnSign: question.sign,
  });
}

function isOrdered(question: OrderQuestion, kind: Kind | undefined, [actual, expected]: readonly [Json, Json]): Truth {
  // Booleans can be equal, but none is greater; where no kind is known only the value tells.
  const order = typeof actual === 'boolean' ? undefined : compareAs(kind, actual, expected);
  return order === undefined ? UNKNOWN : question.holds(order);
}

/** A column, what it is compared with, and how that is said. */
interface OrderSides {
  readonly subject: SqlSubject;
  readonly expected: Json;
  readonly dialect: SqlDialect;
}

function orderSql({ sign }: OrderQuestion, { subject, expected, dialect }: OrderSides): SqlTruth | typeof IN_MEMORY {
  const stored = toStored(subject, subject.kind, expected);
  if (!stored.fits) return SQL_UNKNOWN;
  return stored.bound === undefined
    ? IN_MEMORY
    : sql<boolean | null>`${subject.sql} ${sql.raw(sign)} ${boundValue(stored.bound, { kind: subject.kind, dialect })}`;
}

function readRange(expected: Json): readonly [readonly [OrderQuestion, Json], readonly [OrderQuestion, Json]] | undefined {
  if (!Array.isArray(expected) || expected.length !== 2) return undefined;
  return [
    [AT_LEAST, expected[0]],
    [AT_MOST, expected[1]],
  ];
}

function checkOrdered(value: Json, kind: Kind | undefined): string | undefined {
  return typeof value === 'boolean' ? `expected a value with an order, given ${value}` : checkScalar(value, kind);
}
