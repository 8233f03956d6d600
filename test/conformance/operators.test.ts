import { afterAll, describe, expect, it } from 'vitest';
import { type ComparisonContext, IN_MEMORY, type Json, OPERATORS, type Operator, ownValue } from '../../src/operators/index.ts';
import { type Comparison, checkAlike } from './check-alike.ts';
import {
  asColumn,
  COLUMNS,
  type Column,
  createHostileTable,
  DATABASE,
  DIALECT,
  LISTS,
  NOW,
  OPERANDS,
  storedOf,
  subjectOf,
  TIME_ZONE,
} from './hostile-table.ts';

/** Operators that have no SQL. */
const NEVER_IN_SQL = ['matches', 'timeOfDayBetween', 'dayOfWeekIn', 'cidr', 'ncidr'];

const table = await createHostileTable();
afterAll(() => table.close());

describe('operators', () => {
  for (const operator of OPERATORS.values()) {
    it(`the operator ${operator.name} gives the same result in memory and in ${DATABASE}`, async () => {
      const comparisons = COLUMNS.flatMap((column) =>
        operandsFor(operator, column).flatMap((operand) => compare(operator, column, operand)),
      );
      const inSql = (await checkAlike(table, comparisons)).flat();
      if (NEVER_IN_SQL.includes(operator.name)) {
        expect(inSql.every((answer) => answer === null)).toBe(true);
      } else {
        expect(new Set(inSql)).toEqual(new Set([true, false, null]));
      }
    });
  }

  for (const { name, samples, compileSql } of OPERATORS.values()) {
    it(`the operator ${name} gives the results of its samples in ${DATABASE}`, async () => {
      for (const { actual, expected, kind, itemKind, result } of samples) {
        const column = COLUMNS.find((other) => other.kind.kind === kind && other.kind.itemKind === itemKind);
        if (column === undefined) continue;
        const subject = { ...subjectOf(column), sql: asColumn(column, storedOf(column, actual)) };
        const truth = compileSql(subject, expected, { comparison: contextOf(column), dialect: DIALECT });
        if (truth !== IN_MEMORY)
          expect([actual, expected, ...(await table.answersWithoutRows([truth]))]).toEqual([actual, expected, result]);
      }
    });
  }
});

/** Returns the operands to test. If the kind of the column does not fit, every result is unknown, so a few suffice. */
function operandsFor({ kinds }: Operator, { kind }: Column): readonly Json[] {
  const all = [...OPERANDS, ...LISTS];
  return kinds.includes(kind.kind) ? all : all.slice(0, 3);
}

/** Creates the comparison; none if the operator is evaluated in memory. */
function compare(operator: Operator, column: Column, operand: Json): readonly Comparison[] {
  const context = contextOf(column);
  const truth = operator.compileSql(subjectOf(column), operand, { comparison: context, dialect: DIALECT });
  if (truth === IN_MEMORY) return [];
  const what = `${column.name} ${operator.name} ${JSON.stringify(operand)}`;
  return [{ what, truth, matches: (record) => operator.evaluate(ownValue(record, column.name), operand, context) }];
}

function contextOf({ kind }: Column): ComparisonContext {
  return { ...kind, now: NOW, timeZone: TIME_ZONE };
}
