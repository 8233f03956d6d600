import { expect } from 'vitest';
import type { JsonObject, SqlTruth, Truth } from '../../src/operators/index.ts';
import type { HostileTable } from './hostile-table.ts';

/** A comparison in SQL and in memory. */
export interface Comparison {
  /** Description for the failure message. */
  readonly what: string;
  readonly truth: SqlTruth;
  matches(record: JsonObject): Truth;
}

/** Expects the same results in SQL and in memory for every row; returns the results by comparison and row. */
export async function checkAlike(table: HostileTable, comparisons: readonly Comparison[]): Promise<readonly (readonly Truth[])[]> {
  const answers = await table.answers(comparisons.map(({ truth }) => truth));
  const different = comparisons.flatMap(({ what, matches }, at) =>
    table.rows.flatMap(({ record }, index) => {
      const [memory, inSql] = [matches(record), answers[at]?.[index]];
      return inSql === memory ? [] : [{ what, record, sql: inSql, memory }];
    }),
  );
  if (different.length > 0) expect(different.slice(0, 5)).toEqual([]);
  return answers;
}
