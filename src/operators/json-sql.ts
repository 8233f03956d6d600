import { type Sql, sql } from '../sql/index.ts';
import { IN_MEMORY, type Operator, type SqlAround, type SqlSubject } from './operator.ts';
import { SQL_UNKNOWN, type SqlJson, type SqlTruth } from './sql.ts';
import type { Json, Kind, Truth } from './value.ts';

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
