/** Paths into JSON columns: `resource.extra.team eq "red"`, whatever type of value lies there. */
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { type Frame, IN_MEMORY, type Json, type Kind, OPERATORS, type Operator, type Truth } from '../../src/operators/index.ts';
import { sqliteDialect } from '../../src/storage/sqlite/sql-dialect.ts';
import { checkAlike } from './alike.ts';
import { createHostileTable, DOCUMENTS, LISTS, NOW, OPERANDS, scopeOf, TIME_ZONE } from './hostile-table.ts';

/** What only memory knows of JSON: items of lists and time out of texts, besides what SQLite is never asked. */
const IN_MEMORY_ALONE = [
  ...['matches', 'timeOfDayBetween', 'dayOfWeekIn', 'cidr', 'ncidr'],
  ...['has', 'hasAny', 'hasAll', 'subsetOf', 'before', 'after', 'withinLast', 'withinNext'],
];

/** The path most asked, and those that lead through a list, nowhere, or to the whole. */
const PLACES: readonly (readonly string[])[] = [['a'], ['x-1', '0'], ['a', 'a'], ['none'], []];
/** What the other side may make both compare as. */
const KINDS: readonly Kind[] = ['json', 'text', 'number', 'decimal', 'boolean', 'timestamp', 'list'];

const table = createHostileTable();
afterAll(() => table.close());

describe('an operator answers what lies inside JSON the same in memory and in SQLite', () => {
  for (const operator of OPERATORS.values()) {
    it(operator.name, () => {
      const operands = [...OPERANDS, ...LISTS];
      const few = operands.filter((_, index) => index % 9 === 0);
      const found = new Set<Truth>();
      for (const [index, keys] of PLACES.entries()) {
        for (const operand of index === 0 ? operands : few) for (const answer of check(operator, keys, operand)) found.add(answer);
        for (const kind of KINDS) for (const operand of few) for (const answer of check(operator, keys, operand, kind)) found.add(answer);
      }
      if (IN_MEMORY_ALONE.includes(operator.name)) expect([...found].filter((answer) => answer !== null)).toEqual([]);
      else expect(found).toEqual(new Set([true, false, null]));
    });
  }

  it('reads numbers as JavaScript does, to the last bit', () => {
    let seed = 1;
    const numbers = Array.from({ length: 20_000 }, (_, index) => {
      // A linear congruence: the same numbers every time.
      seed = (seed * 48_271) % 2_147_483_647;
      return index % 2 === 0 ? (seed / 2_147_483_647) * 10 ** ((index % 600) - 300) : Math.round(seed) / 10 ** (index % 9);
    });
    const { number } = sqliteDialect.jsonAt(sql.raw('json'), []);
    const different = numbers.filter(
      (value) => table.answer(sql`(SELECT ${number} = ${value} FROM (SELECT ${JSON.stringify(value)} AS json))`) !== true,
    );
    expect(different).toEqual([]);
  });
});

/** SQL's answers for each row, after seeing that memory gives the same; none where only memory can answer. */
function check(operator: Operator, keys: readonly string[], operand: Json, kind?: Kind): readonly Truth[] {
  const frame: Frame = { kind, now: NOW, timeZone: TIME_ZONE };
  const json = sqliteDialect.jsonAt(sql.ref(DOCUMENTS.name), keys);
  const truth = operator.jsonToSql(json, operand, { frame, dialect: sqliteDialect });
  if (truth === IN_MEMORY) return [];
  return checkAlike(table, {
    what: `${keys.join('.')} ${operator.name} ${JSON.stringify(operand)} as ${kind}`,
    truth,
    matches(record) {
      const actual = scopeOf(record).valueOf({ group: 'resource', keys: [DOCUMENTS.name, ...keys], text: 'resource.doc' });
      return operator.matches(typeof actual === 'symbol' ? undefined : actual, operand, frame);
    },
  });
}
