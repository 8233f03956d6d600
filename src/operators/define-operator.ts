import { type Sql, sql } from '../sql.ts';
import { type Frame, IN_MEMORY, type Operator, type OperatorSample, type SqlAround, type SqlSubject } from './operator.ts';
import { SQL_UNKNOWN, type SqlJson, type SqlTruth } from './operator-sql.ts';
import { describeValue, type Json, type Kind, notTruth, type Truth, UNKNOWN } from './value.ts';
import { fitsKind, isStoredAlike, kindNoun } from './value-kinds.ts';

/** An operator without what all of them share: the answer for what is missing, null, or of a kind that does not fit. */
export interface OperatorRules extends Omit<Operator, 'matches' | 'toSql' | 'jsonToSql' | 'columnsToSql' | 'definedOnMissing'> {
  /** JSON null is a value like any other (`eq`, `ne`, `in`, `nin`). */
  readonly nullIsValue?: boolean;
  answer(actual: Json, expected: Json, frame: Frame): Truth;
  /** Asked only of a column whose kind fits and is the frame's. */
  sql(subject: SqlSubject, expected: Json, around: SqlAround): SqlTruth | typeof IN_MEMORY;
  /** The sign between two columns that says the same, where SQL has one. */
  readonly columnSign?: SqlSign;
}

/** Signs between two values in SQL: NULL on either side makes NULL. */
export type SqlSign = '=' | '<' | '<=' | '>' | '>=';

/** Makes an operator of its rules: missing is unknown, null is unknown unless it is a value here, a kind that does not fit is unknown. */
export function defineOperator(rules: OperatorRules): Operator {
  const { answer, sql: toSql, nullIsValue = false, columnSign, ...rest } = rules;
  const fits = (kind: Kind | undefined): boolean => kind === undefined || rules.kinds.includes(kind);
  const faces = {
    matches(actual: Json | undefined, expected: Json, frame: Frame): Truth {
      if (actual === undefined || (actual === null && !nullIsValue) || !fits(frame.kind)) return UNKNOWN;
      return answer(actual, expected, frame);
    },
    toSql(subject: SqlSubject, expected: Json, around: SqlAround): SqlTruth | typeof IN_MEMORY {
      // Where the sides meet as another kind than the column's, its stored form does not compare as that kind does.
      if (subject.kind === 'json' || around.frame.kind !== subject.kind || around.frame.itemKind !== subject.itemKind) return IN_MEMORY;
      return fits(subject.kind) ? toSql(subject, expected, around) : SQL_UNKNOWN;
    },
  };
  return Object.freeze({
    ...rest,
    ...faces,
    jsonToSql: (subject: SqlJson, expected: Json, around: SqlAround) =>
      jsonToSql({ kinds: rules.kinds, ...faces }, { subject, expected }, around),
    ...(columnSign !== undefined && {
      columnsToSql(left: SqlSubject, right: SqlSubject, { frame }: SqlAround): SqlTruth | typeof IN_MEMORY {
        if (frame.kind !== left.kind || !isStoredAlike(left, right)) return IN_MEMORY;
        return fits(left.kind) ? sql<boolean | null>`${left.sql} ${sql.raw(columnSign)} ${right.sql}` : SQL_UNKNOWN;
      },
    }),
  });
}

/** The operator that is true exactly where `operator` is false. */
export function defineNegation(operator: Operator, named: Pick<Operator, 'name' | 'label' | 'summary' | 'itemwise'>): Operator {
  const { mirror, itemwise: _, columnsToSql, ...rest } = operator;
  return Object.freeze({
    ...rest,
    ...named,
    // Of the operators that have a negation here, eq mirrors itself, and so does ne.
    ...(mirror === operator.name ? { mirror: named.name } : {}),
    negation: operator.name,
    matches: (actual: Json | undefined, expected: Json, frame: Frame) => notTruth(operator.matches(actual, expected, frame)),
    toSql: (subject: SqlSubject, expected: Json, around: SqlAround) => notSql(operator.toSql(subject, expected, around)),
    jsonToSql: (subject: SqlJson, expected: Json, around: SqlAround) => notSql(operator.jsonToSql(subject, expected, around)),
    ...(columnsToSql !== undefined && {
      columnsToSql: (left: SqlSubject, right: SqlSubject, around: SqlAround) => notSql(columnsToSql(left, right, around)),
    }),
    samples: operator.samples.map((sample): OperatorSample => ({ ...sample, answer: notTruth(sample.answer) })),
  });
}

function notSql(truth: SqlTruth | typeof IN_MEMORY): SqlTruth | typeof IN_MEMORY {
  return truth === IN_MEMORY ? IN_MEMORY : sql<boolean | null>`NOT (${truth})`;
}

/** What is wrong with one literal that shall compare as `kind`, in words. */
export function checkScalar(value: Json, kind: Kind | undefined): string | undefined {
  return fitsKind(kind, value) ? undefined : `expected ${kindNoun(kind)}, given ${describeValue(value)}`;
}

/** What is wrong with a list of literals, naming up to five of its items; undefined where nothing is. */
export function checkItems(list: Json, check: (item: Json) => string | undefined): string | undefined {
  if (!Array.isArray(list)) return `expected a list, given ${describeValue(list)}`;
  const mistakes = list.flatMap((item: Json, index) => {
    const mistake = check(item);
    return mistake === undefined ? [] : [`item ${index}: ${mistake}`];
  });
  return mistakes.length === 0 ? undefined : mistakes.slice(0, 5).join('; ');
}

/** What is wrong with a text operand, in words. */
export function checkText(value: Json): string | undefined {
  return typeof value === 'string' ? undefined : `expected a text, given ${describeValue(value)}`;
}

/** What is wrong with an operand that is true or false, in words. */
export function checkBoolean(value: Json): string | undefined {
  return typeof value === 'boolean' ? undefined : `expected true or false, given ${describeValue(value)}`;
}

/** What telling a JSON value in SQL takes of an operator. */
type Faces = Pick<Operator, 'kinds' | 'matches' | 'toSql'>;

/** The two sides of a comparison. */
interface Sides {
  readonly subject: SqlJson;
  readonly expected: Json;
}

/** Types of JSON value that stand for one value, or of which every value gets the same answer from any operator but those of lists. */
const CONSTANTS: readonly (readonly [type: string, value: Json])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
  ['object', {}],
];

/**
 * The answer of an operator for what lies in a JSON column, by its type: a text is asked as a column of texts would be, a
 * number as one of numbers; `true`, `false`, null and objects have one answer each, which memory gives. What is missing is unknown.
 */
export function jsonToSql(operator: Faces, sides: Sides, around: SqlAround): SqlTruth | typeof IN_MEMORY {
  const { text, number, list, type } = sides.subject;
  const branches: (readonly [type: string, answer: SqlTruth | typeof IN_MEMORY])[] = [
    ['text', asColumn({ sql: text, kind: 'text', example: '' }, operator, { sides, around })],
    ['array', asColumn({ sql: list, kind: 'list', example: [] }, operator, { sides, around })],
    ...CONSTANTS.map(([name, value]) => [name, constantSql(operator.matches(value, sides.expected, around.frame))] as const),
  ];
  const ofNumbers = asColumn({ sql: number, kind: 'number', example: 0 }, operator, { sides, around });
  branches.push(['integer', ofNumbers], ['real', ofNumbers]);
  const told: Sql[] = [];
  for (const [name, answer] of branches) {
    if (answer === IN_MEMORY) return IN_MEMORY;
    if (answer !== SQL_UNKNOWN) told.push(sql`WHEN ${sql.lit(name)} THEN ${answer}`);
  }
  return told.length === 0 ? SQL_UNKNOWN : sql<boolean | null>`CASE ${type} ${sql.join(told, sql` `)} END`;
}

/** Values of one JSON type, as a column of that kind would hold them. */
interface JsonColumn {
  readonly sql: Sql;
  readonly kind: Kind;
  readonly example: Json;
}

/** The operator's own answer for a column of that kind, where that is what the values compare as. */
function asColumn(
  { sql: column, kind, example }: JsonColumn,
  operator: Faces,
  { sides: { expected }, around }: { readonly sides: Sides; readonly around: SqlAround },
): SqlTruth | typeof IN_MEMORY {
  const { frame } = around;
  const compared = frame.kind ?? 'json';
  // Dates, instants and decimals are read out of texts and numbers; only a column of theirs has them in one form.
  if (READ_OUT_OF_TEXT.includes(compared) && kind !== 'list') return IN_MEMORY;
  if (compared !== 'json' && compared !== kind) return constantSql(operator.matches(example, expected, frame));
  if (!operator.kinds.includes(kind)) {
    // Operators of time read texts, too.
    return kind === 'text' && operator.kinds.includes('timestamp') ? IN_MEMORY : constantSql(operator.matches(example, expected, frame));
  }
  if (frame.itemKind !== undefined) return IN_MEMORY;
  const subject: SqlSubject = { sql: column, kind, encode: (value) => value };
  return operator.toSql(subject, expected, { ...around, frame: { ...frame, kind } });
}

const READ_OUT_OF_TEXT: readonly Kind[] = ['date', 'timestamp', 'decimal'];

function constantSql(truth: Truth): SqlTruth {
  return truth === null ? SQL_UNKNOWN : truth ? sql<boolean | null>`TRUE` : sql<boolean | null>`FALSE`;
}
