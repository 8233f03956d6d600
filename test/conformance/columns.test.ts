/** Comparisons of two columns, such as `resource.authorId eq ${resource.editorId}`. */
import { afterAll, describe, expect, it } from 'vitest';
import { combineKinds, IN_MEMORY, OPERATORS, ownValue } from '../../src/operators/index.ts';
import { type Comparison, checkAlike } from './check-alike.ts';
import { ALL_COLUMNS, createHostileTable, DATABASE, DIALECT, NOW, subjectOf, TIME_ZONE } from './hostile-table.ts';

/**
 * Number of pairs of columns that SQL compares, with a known result for at least one row: 4 of texts, 9 of numbers, 4 of dates,
 * 4 of timestamps, 6 of decimals with the same scale, and 4 of booleans, which support equality only.
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

describe(`operators on two columns in memory and in ${DATABASE}`, () => {
  for (const { name, compileColumnsSql, evaluate } of OPERATORS.values()) {
    if (compileColumnsSql === undefined) continue;
    it(`the operator ${name} compares two columns alike in memory and in ${DATABASE}`, async () => {
      const comparisons: Comparison[] = [];
      for (const left of ALL_COLUMNS) {
        for (const right of ALL_COLUMNS) {
          const kind = combineKinds(left.kind.kind, right.kind.kind);
          if (kind === 'mismatch') continue;
          const context = { kind, now: NOW, timeZone: TIME_ZONE };
          const truth = compileColumnsSql(subjectOf(left), subjectOf(right), { comparison: context, dialect: DIALECT });
          if (truth === IN_MEMORY) continue;
          comparisons.push({
            what: `${left.name} ${name} ${right.name}`,
            truth,
            matches(record) {
              const expected = ownValue(record, right.name);
              return expected === undefined ? null : evaluate(ownValue(record, left.name), expected, context);
            },
          });
        }
      }
      const known = (await checkAlike(table, comparisons)).filter((answers) => answers.some((answer) => answer !== null));
      expect(known.length).toBe(PAIRS.get(name));
    });
  }

  it('every operator that can compile two columns is tested', () => {
    const comparisons = [...OPERATORS.values()].filter(({ compileColumnsSql }) => compileColumnsSql !== undefined);
    expect(comparisons.map(({ name }) => name)).toEqual([...PAIRS.keys()]);
  });
});
