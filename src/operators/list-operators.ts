import { type Sql, sql } from '../sql.ts';
import { checkItems, checkScalar, defineOperator } from './define-operator.ts';
import { isEqual } from './equality.ts';
import { IN_MEMORY, type Operator, type OperatorSample, type SqlSubject } from './operator.ts';
import { oneOf, type SqlDialect, type SqlTruth, wherePresent } from './operator-sql.ts';
import { allTruth, anyTruth, type Json, type Kind, type Truth, UNKNOWN } from './value.ts';
import { canonicalAs, toStored } from './value-kinds.ts';

/** One way to ask about several items at once. */
interface ListQuestion {
  readonly name: string;
  readonly label: string;
  readonly summary: string;
  readonly mirror: string;
  holds(items: readonly Json[], expected: readonly Json[], itemKind: Kind | undefined): Truth;
  /** The answer for a list that is there; `items` is one row for each item, with its `value`. */
  sql(items: Sql, wanted: WantedItems): SqlTruth;
  readonly samples: readonly OperatorSample[];
}

/** Items asked for, as SQL: how many different ones, and whether the `value` at hand is one of them. */
interface WantedItems {
  readonly count: number;
  readonly isWanted: SqlTruth;
  /** `value` as it compares. */
  readonly value: Sql;
}

export const has: Operator = defineOperator({
  name: 'has',
  label: 'has',
  summary: 'The list has an item that equals the value.',
  kinds: ['list', 'json'],
  operand: 'scalar',
  mirror: 'in',
  checkOperand: (expected, { itemKind }) => checkScalar(expected, itemKind),
  answer: (actual, expected, { itemKind }) =>
    Array.isArray(actual) ? anyTruth(actual, (item) => isEqual(item, expected, itemKind)) : UNKNOWN,
  sql: (subject, expected, { dialect }) =>
    listSql(subject, [expected], { answer: (items, { isWanted }) => anyWanted(items, isWanted), dialect }),
  samples: [
    { actual: ['red', 'blue'], expected: 'red', kind: 'list', itemKind: 'text', answer: true },
    { actual: ['red', 'blue'], expected: 're', kind: 'list', itemKind: 'text', answer: false },
    { actual: [], expected: 'red', kind: 'list', itemKind: 'text', answer: false },
    { actual: [1, 2], expected: '1', kind: 'list', itemKind: 'number', answer: null },
    { actual: 'red', expected: 'red', answer: null },
  ],
});

export const hasAny: Operator = defineListOperator({
  name: 'hasAny',
  label: 'has any of',
  summary: 'The list has at least one of the values.',
  mirror: 'hasAny',
  holds: (items, expected, itemKind) => anyTruth(expected, createLookup(items, itemKind)),
  sql: (items, { isWanted }) => anyWanted(items, isWanted),
  samples: [
    { actual: ['red', 'blue'], expected: ['green', 'blue'], kind: 'list', itemKind: 'text', answer: true },
    { actual: ['red'], expected: ['green', 'blue'], kind: 'list', itemKind: 'text', answer: false },
    { actual: ['red'], expected: [], kind: 'list', itemKind: 'text', answer: false },
  ],
});

export const hasAll: Operator = defineListOperator({
  name: 'hasAll',
  label: 'has all of',
  summary: 'The list has every one of the values.',
  mirror: 'subsetOf',
  holds: (items, expected, itemKind) => allTruth(expected, createLookup(items, itemKind)),
  sql: (items, { count, isWanted, value }) =>
    sql<boolean | null>`(SELECT count(DISTINCT ${value}) FROM ${items} WHERE ${isWanted}) = ${count}`,
  samples: [
    { actual: ['red', 'blue', 'red'], expected: ['red', 'blue'], kind: 'list', itemKind: 'text', answer: true },
    { actual: ['red'], expected: ['red', 'blue'], kind: 'list', itemKind: 'text', answer: false },
    { actual: ['red'], expected: [], kind: 'list', itemKind: 'text', answer: true },
  ],
});

export const subsetOf: Operator = defineListOperator({
  name: 'subsetOf',
  label: 'has only',
  summary: 'Every item of the list is one of the values; an empty list always is.',
  mirror: 'hasAll',
  holds: (items, expected, itemKind) => allTruth(items, createLookup(expected, itemKind)),
  sql: (items, { isWanted }) => sql<boolean | null>`NOT EXISTS (SELECT 1 FROM ${items} WHERE NOT (${isWanted}))`,
  samples: [
    { actual: ['red', 'red'], expected: ['red', 'blue'], kind: 'list', itemKind: 'text', answer: true },
    { actual: ['red', 'green'], expected: ['red', 'blue'], kind: 'list', itemKind: 'text', answer: false },
    { actual: [], expected: [], kind: 'list', itemKind: 'text', answer: true },
  ],
});

function defineListOperator(question: ListQuestion): Operator {
  return defineOperator({
    ...question,
    kinds: ['list', 'json'],
    operand: 'scalars',
    checkOperand: (expected, { itemKind }) => checkItems(expected, (item) => checkScalar(item, itemKind)),
    answer: (actual, expected, { itemKind }) =>
      Array.isArray(actual) && Array.isArray(expected) ? question.holds(actual, expected, itemKind) : UNKNOWN,
    sql: (subject, expected, { dialect }) =>
      Array.isArray(expected) ? listSql(subject, expected, { answer: question.sql, dialect }) : IN_MEMORY,
  });
}

/** Kinds whose items are stored as they compare: decimals and booleans read otherwise out of stored JSON. */
const STORED_ALIKE: readonly (Kind | undefined)[] = ['text', 'number', 'date', 'timestamp'];

/** What the answer for a list that is there looks like in SQL. */
type ListAnswer = ListQuestion['sql'];

/** One value that does not fit leaves the answer to memory: it is unknown only for some rows. */
function listSql(
  subject: SqlSubject,
  expected: readonly Json[],
  { answer, dialect }: { answer: ListAnswer; dialect: SqlDialect },
): SqlTruth | typeof IN_MEMORY {
  const { itemKind } = subject;
  if (itemKind === undefined || !STORED_ALIKE.includes(itemKind)) return IN_MEMORY;
  const bound = new Set<unknown>();
  for (const value of expected) {
    const stored = toStored(subject, itemKind, value);
    if (!stored.fits || stored.bound === undefined) return IN_MEMORY;
    bound.add(stored.bound);
  }
  // In stored JSON a large number may read as an integer of more digits than JavaScript's: compare both as doubles.
  const value = itemKind === 'number' ? sql`CAST(value AS DOUBLE PRECISION)` : sql`value`;
  const isWanted = bound.size === 0 ? sql<boolean | null>`FALSE` : oneOf(value, [...bound], { kind: itemKind, dialect });
  if (isWanted === undefined) return IN_MEMORY;
  return wherePresent(subject.sql, answer(dialect.listItems(subject.sql), { count: bound.size, isWanted, value }));
}

function anyWanted(items: Sql, isWanted: SqlTruth): SqlTruth {
  return sql<boolean | null>`EXISTS (SELECT 1 FROM ${items} WHERE ${isWanted})`;
}

/**
 * A list made ready to be asked often: whether a value equals any of its items, in the three answers that asking each would
 * give, without asking each. Two lists meet in time proportional to their lengths, not to the product: both may come from a client.
 */
export function createLookup(items: readonly Json[], kind: Kind | undefined): (value: Json) => Truth {
  const keys = new Set<string>();
  /** JSON types of the items that fit, which no other type compares with where no kind is known. */
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

/** Equal values have one key. */
function keyOf(value: Json, kind: Kind | undefined): string | undefined {
  if (value === null || typeof value === 'object') return undefined;
  const canonical = canonicalAs(kind ?? 'json', value);
  return canonical === undefined ? undefined : `${typeof canonical} ${canonical}`;
}
