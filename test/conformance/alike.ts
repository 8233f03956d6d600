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

/** The answers of SQL for each row, after seeing that memory gives the same. */
export function checkAlike(table: HostileTable, { what, truth, matches }: Comparing): readonly Truth[] {
  const inSql = table.answers(truth);
  const different = table.rows.flatMap(({ record }, index) => {
    const memory = matches(record);
    return inSql[index] === memory ? [] : [{ what, record, sql: inSql[index], memory }];
  });
  if (different.length > 0) expect(different).toEqual([]);
  return inSql;
}
