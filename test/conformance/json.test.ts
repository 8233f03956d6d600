/** Comparisons of paths into JSON columns, such as `resource.extra.team eq "red"`, with values of any type. */

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
import { databaseCasesOf } from '../budget.ts';
import { type Comparison, checkAlike } from './check-alike.ts';
import { asJson, createHostileTable, DATABASE, DIALECT, DOCUMENTS, LISTS, NOW, OPERANDS, scopeOf, TIME_ZONE } from './hostile-table.ts';

/** Operators that are evaluated only in memory on JSON: on items of lists, on times in texts, and those that have no SQL. */
const IN_MEMORY_ONLY = [
  ...['matches', 'timeOfDayBetween', 'dayOfWeekIn', 'cidr', 'ncidr'],
  ...['has', 'hasAny', 'hasAll', 'subsetOf', 'before', 'after', 'withinLast', 'withinNext'],
];

/** Paths into the document: a plain key, a key in a list, a nested key, a missing key, and the whole document. */
const PLACES: readonly (readonly string[])[] = [['a'], ['x-1', '0'], ['a', 'a'], ['none'], []];
/** Kinds that the other side of a comparison may impose. */
const KINDS: readonly Kind[] = ['json', 'text', 'number', 'decimal', 'boolean', 'timestamp', 'list'];

const table = await createHostileTable();
afterAll(() => table.close());

describe('operators on values inside JSON', () => {
  for (const operator of OPERATORS.values()) {
    it(`the operator ${operator.name} compares values inside JSON alike in memory and in ${DATABASE}`, async () => {
      const operands = [...OPERANDS, ...LISTS];
      const few = operands.filter((_, index) => index % 9 === 0);
      const comparisons: Comparison[] = [];
      for (const [index, keys] of PLACES.entries()) {
        for (const operand of index === 0 ? operands : few) comparisons.push(...compare(operator, keys, operand));
        for (const kind of KINDS) for (const operand of few) comparisons.push(...compare(operator, keys, operand, kind));
      }
      const found = new Set<Truth>((await checkAlike(table, comparisons)).flat());
      if (IN_MEMORY_ONLY.includes(operator.name)) expect([...found].filter((answer) => answer !== null)).toEqual([]);
      else expect(found).toEqual(new Set([true, false, null]));
    });
  }

  it(`${DATABASE} reads numbers exactly as JavaScript does`, async () => {
    let seed = 1;
    const numbers = Array.from({ length: databaseCasesOf(20_000) }, (_, index) => {
      // A linear congruential generator, for the same numbers in every run.
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

/** Creates the comparisons; none if the operator is evaluated only in memory. */
function compare(operator: Operator, keys: readonly string[], operand: Json, kind?: Kind): readonly Comparison[] {
  const context: ComparisonContext = { kind, now: NOW, timeZone: TIME_ZONE };
  const json = DIALECT.jsonAt(sql.ref(DOCUMENTS.name), keys);
  const truth = operator.compileJsonSql(json, operand, { comparison: context, dialect: DIALECT });
  if (truth === IN_MEMORY) return [];
  const what = `${keys.join('.')} ${operator.name} ${JSON.stringify(operand)} as ${kind}`;
  const matches: Comparison['matches'] = (record) => {
    const actual = scopeOf(record).valueOf({ group: 'resource', keys: [DOCUMENTS.name, ...keys], text: 'resource.doc' });
    return operator.evaluate(typeof actual === 'symbol' ? undefined : actual, operand, context);
  };
  return [{ what, truth, matches }];
}
