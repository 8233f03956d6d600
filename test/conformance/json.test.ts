/** Paths into JSON columns: `resource.extra.team eq "red"`, whatever type of value lies there. */

import { afterAll, describe, expect, it } from 'vitest';
import {
  type ComparisonContext,
  IN_MEMORY,
  type Json,
  type Kind,
  OPERATORS,
  type Operator,
  type Truth,
} from '../../src/operators/index.ts';
import { sql } from '../../src/sql.ts';
import { type Comparing, checkAlike } from './alike.ts';
import { asJson, createHostileTable, DATABASE, DIALECT, DOCUMENTS, LISTS, NOW, OPERANDS, scopeOf, TIME_ZONE } from './hostile-table.ts';

/** What only memory knows of JSON: items of lists and time out of texts, besides what no database is ever asked. */
const IN_MEMORY_ALONE = [
  ...['matches', 'timeOfDayBetween', 'dayOfWeekIn', 'cidr', 'ncidr'],
  ...['has', 'hasAny', 'hasAll', 'subsetOf', 'before', 'after', 'withinLast', 'withinNext'],
];

/** The path most asked, and those that lead through a list, nowhere, or to the whole. */
const PLACES: readonly (readonly string[])[] = [['a'], ['x-1', '0'], ['a', 'a'], ['none'], []];
/** What the other side may make both compare as. */
const KINDS: readonly Kind[] = ['json', 'text', 'number', 'decimal', 'boolean', 'timestamp', 'list'];

const table = await createHostileTable();
afterAll(() => table.close());

describe(`an operator answers what lies inside JSON the same in memory and in ${DATABASE}`, () => {
  for (const operator of OPERATORS.values()) {
    it(operator.name, async () => {
      const operands = [...OPERANDS, ...LISTS];
      const few = operands.filter((_, index) => index % 9 === 0);
      const asked: Comparing[] = [];
      for (const [index, keys] of PLACES.entries()) {
        for (const operand of index === 0 ? operands : few) asked.push(...compare(operator, keys, operand));
        for (const kind of KINDS) for (const operand of few) asked.push(...compare(operator, keys, operand, kind));
      }
      const found = new Set<Truth>((await checkAlike(table, asked)).flat());
      if (IN_MEMORY_ALONE.includes(operator.name)) expect([...found].filter((answer) => answer !== null)).toEqual([]);
      else expect(found).toEqual(new Set([true, false, null]));
    });
  }

  it('reads numbers as JavaScript does, to the last bit', async () => {
    let seed = 1;
    const numbers = Array.from({ length: 20_000 }, (_, index) => {
      // A linear congruence: the same numbers every time.
      seed = (seed * 48_271) % 2_147_483_647;
      return index % 2 === 0 ? (seed / 2_147_483_647) * 10 ** ((index % 600) - 300) : Math.round(seed) / 10 ** (index % 9);
    });
    const { number } = DIALECT.jsonAt(sql.raw('j.value'), []);
    const answers = await table.answersWithoutRows(
      numbers.map(
        (value) => sql`(SELECT ${number} = ${DIALECT.numberValue(value)} FROM (SELECT ${asJson(JSON.stringify(value))} AS value) AS j)`,
      ),
    );
    expect(numbers.filter((_, index) => answers[index] !== true)).toEqual([]);
  });
});

/** What there is to compare; nothing where only memory can answer. */
function compare(operator: Operator, keys: readonly string[], operand: Json, kind?: Kind): readonly Comparing[] {
  const context: ComparisonContext = { kind, now: NOW, timeZone: TIME_ZONE };
  const json = DIALECT.jsonAt(sql.ref(DOCUMENTS.name), keys);
  const truth = operator.compileJsonSql(json, operand, { comparison: context, dialect: DIALECT });
  if (truth === IN_MEMORY) return [];
  const what = `${keys.join('.')} ${operator.name} ${JSON.stringify(operand)} as ${kind}`;
  const matches: Comparing['matches'] = (record) => {
    const actual = scopeOf(record).valueOf({ group: 'resource', keys: [DOCUMENTS.name, ...keys], text: 'resource.doc' });
    return operator.evaluate(typeof actual === 'symbol' ? undefined : actual, operand, context);
  };
  return [{ what, truth, matches }];
}
