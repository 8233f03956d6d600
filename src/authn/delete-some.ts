import { type Sql, sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';

/** Maximum rows that one statement deletes: on SQLite, all other requests wait for it. A login or a refresh adds fewer rows to each table. */
const DELETED_AT_ONCE = 200;

/** Deletes some of the rows that match a condition with an index. Returns true if more may be left. */
export async function deleteSome(tx: Transaction, table: string, where: Sql): Promise<boolean> {
  const of = sql.table(table);
  const { changes } = await tx.run(sql`delete from ${of} where "id" in (select "id" from ${of} where ${where} limit ${DELETED_AT_ONCE})`);
  return changes === DELETED_AT_ONCE;
}
