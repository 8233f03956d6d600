import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { type Frame, IN_MEMORY, type Json, OPERATORS, type Operator, ownValue } from '../../src/operators/index.ts';
import { sqliteDialect } from '../../src/storage/sqlite/sql-dialect.ts';
import { checkAlike } from './alike.ts';
import { COLUMNS, type Column, createHostileTable, LISTS, NOW, OPERANDS, storedOf, subjectOf, TIME_ZONE } from './hostile-table.ts';

/** What SQLite is not asked at all. */
const NEVER_IN_SQL = ['matches', 'timeOfDayBetween', 'dayOfWeekIn', 'cidr', 'ncidr'];

const table = createHostileTable();
afterAll(() => table.close());

describe('an operator answers the same in memory and in SQLite', () => {
  for (const operator of OPERATORS.values()) {
    it(`${operator.name}`, () => {
      const compared = COLUMNS.flatMap((column) => operandsFor(operator, column).map((operand) => check(operator, column, operand)));
      const inSql = compared.filter((answers) => answers !== undefined).flat();
      if (NEVER_IN_SQL.includes(operator.name)) {
        expect(inSql.every((answer) => answer === null)).toBe(true);
      } else {
        expect(new Set(inSql)).toEqual(new Set([true, false, null]));
      }
    });
  }

  for (const { name, samples, toSql } of OPERATORS.values()) {
    it(`${name} answers its samples in SQLite`, () => {
      for (const { actual, expected, kind, itemKind, answer } of samples) {
        const column = COLUMNS.find((other) => other.kind.kind === kind && other.kind.itemKind === itemKind);
        if (column === undefined) continue;
        const subject = { ...subjectOf(column), sql: sql`${storedOf(column, actual)}` };
        const truth = toSql(subject, expected, { frame: frameOf(column), dialect: sqliteDialect });
        if (truth !== IN_MEMORY) expect([actual, expected, table.answer(truth)]).toEqual([actual, expected, answer]);
      }
    });
  }
});

/** Where the column's kind does not fit, the answer is unknown whatever the operand: a few will do. */
function operandsFor({ kinds }: Operator, { kind }: Column): readonly Json[] {
  const all = [...OPERANDS, ...LISTS];
  return kinds.includes(kind.kind) ? all : all.slice(0, 3);
}

/** The answers of SQL, where it gives any, after seeing that memory gives the same. */
function check(operator: Operator, column: Column, operand: Json): readonly (boolean | null)[] | undefined {
  const frame = frameOf(column);
  const truth = operator.toSql(subjectOf(column), operand, { frame, dialect: sqliteDialect });
  if (truth === IN_MEMORY) return undefined;
  return checkAlike(table, {
    what: `${column.name} ${operator.name} ${JSON.stringify(operand)}`,
    truth,
    matches: (record) => operator.matches(ownValue(record, column.name), operand, frame),
  });
}

function frameOf({ kind }: Column): Frame {
  return { ...kind, now: NOW, timeZone: TIME_ZONE };
}
