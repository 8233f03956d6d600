import { expect } from 'vitest';
import type { JsonObject, SqlTruth, Truth } from '../../src/operators/index.ts';
import type { HostileTable } from './hostile-table.ts';

/** What operators say in SQL of the rows of a table, and what memory says of them. */
export interface Comparing {
  /** For the message where the two differ. */
  readonly what: string;
  readonly truth: SqlTruth;
  matches(record: JsonObject): Truth;
}

/** For each of them the answers of SQL for each row, after seeing that memory gives the same. */
export async function checkAlike(table: HostileTable, asked: readonly Comparing[]): Promise<readonly (readonly Truth[])[]> {
  const answers = await table.answers(asked.map(({ truth }) => truth));
  const different = asked.flatMap(({ what, matches }, at) =>
    table.rows.flatMap(({ record }, index) => {
      const [memory, inSql] = [matches(record), answers[at]?.[index]];
      return inSql === memory ? [] : [{ what, record, sql: inSql, memory }];
    }),
  );
  if (different.length > 0) expect(different.slice(0, 5)).toEqual([]);
  return answers;
}
