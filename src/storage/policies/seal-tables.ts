/** Writes the checksums of rows that have none, and those of rows that an operator has changed with SQL. */
import type { Resource } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import { toChecksum } from '../checksums/row-checksums.ts';
import { CHECKSUM, type TableRow } from '../checksums/row-content.ts';
import type { Transaction } from '../contract.ts';
import { selectPolicyRows } from './policy-rows.ts';
import { POLICY_TABLES, selectRows } from './policy-tables.ts';

/** The tables whose rows have a column with their checksum. */
export const SEALED_TABLES: readonly Resource[] = [
  POLICY_TABLES.policy,
  POLICY_TABLES.rolePolicy,
  POLICY_TABLES.userPolicy,
  POLICY_TABLES.history,
];

/** Rows that one statement loads or seals. */
const PAGE = 500;

/** Calls `receive` with pages of the stored rows of a table, ordered by id. */
export async function eachPage(tx: Transaction, table: Resource, receive: (rows: readonly TableRow[]) => Promise<void>): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows: readonly TableRow[] = await loadPage(tx, table, after);
    await receive(rows);
    after = rows.length < PAGE ? undefined : String(rows.at(-1)?.row['id']);
  }
}

/** Loads the rows of a table after an id, at most 500, ordered by id; policies with the rows of their rules. */
export async function loadPage(tx: Transaction, table: Resource, after: string): Promise<readonly TableRow[]> {
  if (table === POLICY_TABLES.policy) {
    const page = sql`"id" IN (SELECT "id" FROM "_Policy" WHERE "id" > ${after} ORDER BY "id" LIMIT ${PAGE})`;
    return (await selectPolicyRows(tx, page)).toSorted((a, b) => (String(a.row['id']) < String(b.row['id']) ? -1 : 1));
  }
  const rows = await selectRows(tx, table, { where: sql`"id" > ${after}`, orderBy: ['id'], limit: PAGE });
  return rows.map((row) => ({ table, row }));
}

/** Writes the checksums of every row of a table. */
export function sealTable(tx: Transaction, table: Resource): Promise<void> {
  return eachPage(tx, table, (rows) => sealRows(tx, rows));
}

/** Writes the checksums of rows of one table, at most 500. */
export async function sealRows(tx: Transaction, rows: readonly TableRow[]): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const values = rows.map((row) => sql`(${String(row.row['id'])}, ${toChecksum(row)})`);
  await tx.run(sql`
    UPDATE ${sql.table(first.table.name)} SET ${sql.ref(CHECKSUM)} = sealed."column2"
    FROM (VALUES ${sql.join(values)}) AS sealed WHERE ${sql.table(first.table.name)}."id" = sealed."column1"`);
}
