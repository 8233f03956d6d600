/** Two columns compared with each other: `resource.authorId eq ${resource.editorId}`. */
import { afterAll, describe, expect, it } from 'vitest';
import { combineKinds, IN_MEMORY, OPERATORS, ownValue } from '../../src/operators/index.ts';
import { type Comparing, checkAlike } from './alike.ts';
import { ALL_COLUMNS, createHostileTable, DATABASE, DIALECT, NOW, subjectOf, TIME_ZONE } from './hostile-table.ts';

/**
 * How many pairs of columns SQL is asked with an answer for some row: 4 of texts, 9 of numbers, 4 of dates, 4 of timestamps,
 * 6 of decimals of one scale, and of booleans 4, which can be equal and nothing more.
 */
const PAIRS: ReadonlyMap<string, number> = new Map([
  ['eq', 31],
  ['ne', 31],
  ['gt', 27],
  ['gte', 27],
  ['lt', 27],
  ['lte', 27],
  ['before', 8],
  ['after', 8],
]);

const table = await createHostileTable();
afterAll(() => table.close());

describe(`an operator answers two columns the same in memory and in ${DATABASE}`, () => {
  for (const { name, compileColumnsSql, evaluate } of OPERATORS.values()) {
    if (compileColumnsSql === undefined) continue;
    it(name, async () => {
      const asked: Comparing[] = [];
      for (const left of ALL_COLUMNS) {
        for (const right of ALL_COLUMNS) {
          const kind = combineKinds(left.kind.kind, right.kind.kind);
          if (kind === 'mismatch') continue;
          const context = { kind, now: NOW, timeZone: TIME_ZONE };
          const truth = compileColumnsSql(subjectOf(left), subjectOf(right), { comparison: context, dialect: DIALECT });
          if (truth === IN_MEMORY) continue;
          asked.push({
            what: `${left.name} ${name} ${right.name}`,
            truth,
            matches(record) {
              const expected = ownValue(record, right.name);
              return expected === undefined ? null : evaluate(ownValue(record, left.name), expected, context);
            },
          });
        }
      }
      const told = (await checkAlike(table, asked)).filter((answers) => answers.some((answer) => answer !== null));
      expect(told.length).toBe(PAIRS.get(name));
    });
  }

  it('where two columns can be asked at all', () => {
    const asked = [...OPERATORS.values()].filter(({ compileColumnsSql }) => compileColumnsSql !== undefined);
    expect(asked.map(({ name }) => name)).toEqual([...PAIRS.keys()]);
  });
});
