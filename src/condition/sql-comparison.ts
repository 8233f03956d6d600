import {
  type Frame,
  IN_MEMORY,
  OPERATORS,
  type Operator,
  type SqlAround,
  type SqlDialect,
  type SqlJson,
  type SqlSubject,
  type SqlTruth,
} from '../operators/index.ts';
import { type Sql, sql } from '../sql/index.ts';
import { comparedAs, type KindOf } from './compared-as.ts';
import type { Comparison, Path } from './condition.ts';

/** What a condition is compiled for. */
export interface SqlTarget {
  readonly dialect: SqlDialect;
  /** The column that holds a path of the record; undefined where none does. */
  column(path: Path): SqlSubject | undefined;
  /** The JSON column in whose value a path ends; undefined where it ends in none, or where the database is not to look inside. */
  json?(path: Path): JsonPlace | undefined;
  kindOf: KindOf;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string;
}

/** Where in a JSON column a path ends. */
export interface JsonPlace {
  readonly document: Sql;
  /** Keys into the column's value; none for the whole of it. */
  readonly keys: readonly string[];
}

/** A comparison with its two sides found in the database. */
export interface SqlQuestion {
  /** How many values it binds, each of them up to three times. */
  readonly values: number;
  /** The comparison in SQL, or that only memory can answer it. */
  answer(): SqlTruth | typeof IN_MEMORY;
}

/** A left side in SQL, and how to ask about it. */
interface Sides {
  /** NULL where the left side has no value. */
  readonly presence: Sql;
  readonly values: number;
  ask(around: SqlAround): SqlTruth | typeof IN_MEMORY;
}

/** Undefined where a side is not in the database as such: a text made of parts, a path into what no definition knows. */
export function toQuestion(comparison: Comparison, target: SqlTarget): SqlQuestion | undefined {
  const operator = OPERATORS.get(comparison.operator);
  const sides = operator && findSides(comparison, operator, target);
  if (operator === undefined || sides === undefined) return undefined;
  const { presence, values, ask } = sides;
  return {
    values,
    answer() {
      const as = comparedAs(comparison, operator, (path) => target.kindOf(path));
      if (as === 'mismatch') return IN_MEMORY;
      const frame: Frame = { kind: as.kind, itemKind: as.itemKind, now: target.now, timeZone: target.timeZone };
      const truth = ask({ frame, dialect: target.dialect });
      if (truth === IN_MEMORY || !comparison.ifExists || operator.definedOnMissing === true) return truth;
      return sql<boolean | null>`(${presence} IS NOT NULL AND ${truth})`;
    },
  };
}

function findSides({ path, operand }: Comparison, operator: Operator, target: SqlTarget): Sides | undefined {
  const place = target.json?.(path);
  const left = target.column(path);
  if (operand.type === 'literal') {
    const { value } = operand;
    const values = Array.isArray(value) ? value.length : 1;
    if (place !== undefined) {
      return findInside(place, target.dialect, { values, ask: (json, around) => operator.jsonToSql(json, value, around) });
    }
    return left && { presence: left.sql, values, ask: (around) => operator.toSql(left, value, around) };
  }
  const right = operand.type === 'reference' ? target.column(operand.path) : undefined;
  if (left === undefined || right === undefined) return undefined;
  return { presence: left.sql, values: 0, ask: (around) => operator.columnsToSql?.(left, right, around) ?? IN_MEMORY };
}

/** Keys that are the same key however a database is told of them. */
const PLAIN_KEY = /^[A-Za-z0-9_-]+$/;
/** How many values the way to what lies inside counts for: it is bound wherever that is named. */
const WAY = 3;

interface AskInside {
  readonly values: number;
  ask(json: SqlJson, around: SqlAround): SqlTruth | typeof IN_MEMORY;
}

function findInside({ document, keys }: JsonPlace, dialect: SqlDialect, { values, ask }: AskInside): Sides | undefined {
  if (!keys.every((key) => PLAIN_KEY.test(key))) return undefined;
  const json = dialect.jsonAt(document, keys);
  return { presence: json.type, values: values + WAY, ask: (around) => ask(json, around) };
}
