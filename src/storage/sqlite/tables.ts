import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import type { ActualColumn, ActualIndex, ActualTable, TableDialect } from '../migrations/table-state.ts';
import { quoteName } from '../table-names.ts';

const COLUMN_TYPES = Object.freeze({ text: 'TEXT', integer: 'INTEGER', real: 'REAL', boolean: 'INTEGER', json: 'TEXT' });

/** Creates and introspects tables in SQLite. */
export const sqliteTables: TableDialect = Object.freeze({
  columnTypes: COLUMN_TYPES,
  castTypes: COLUMN_TYPES,
  // Without STRICT a column takes values of any type.
  tableOptions: ' STRICT',
  referencesLast: false,
  indexPart: quoteName,
  booleanText: (value: boolean) => (value ? '1' : '0'),
  // Dropping a table deletes its rows one by one. References to the rows are set to NULL first, so that they do not prevent the deletion.
  dropReferenceSql: ({ name }: ActualTable, column: ActualColumn) => `UPDATE ${quoteName(name)} SET ${quoteName(column.name)} = NULL`,
  // SQL functions are registered on each connection, not stored in the database.
  prepare: async () => undefined,
  waitNotice: 'requests wait meanwhile, because their audit entries need the same lock',
  // The write lock covers all tables.
  lockTables: async () => undefined,
  introspect,
  hasTable: async (tx: Transaction, name: string) =>
    (await tx.one(sql`SELECT 1 FROM sqlite_schema WHERE "type" = 'table' AND "name" = ${name}`)) !== undefined,
});

interface ColumnRow {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly refers: string | null;
}

interface IndexRow {
  readonly table: string;
  readonly name: string;
  readonly unique: number;
  readonly partial: number;
  readonly column: string;
  /** The condition of a partial index, which begins with WHERE. */
  readonly condition: string | null;
}

async function introspect(tx: Transaction): Promise<readonly ActualTable[]> {
  const columns = await tx.all<ColumnRow>(sql`
    SELECT t."name" AS "table", c."name", c."type", f."table" AS "refers"
    FROM sqlite_schema t JOIN pragma_table_info(t."name") c LEFT JOIN pragma_foreign_key_list(t."name") f ON f."from" = c."name"
    WHERE t."type" = 'table' AND t."name" NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY t."name", c."cid"`);
  // Indexes that SQLite creates for a primary key have no SQL.
  const indexes = await tx.all<IndexRow>(sql`
    SELECT i."tbl_name" AS "table", i."name", l."unique", l."partial", c."name" AS "column",
      CASE WHEN l."partial" THEN substr(i."sql", instr(i."sql", ' WHERE ')) END AS "condition"
    FROM sqlite_schema i JOIN pragma_index_list(i."tbl_name") l ON l."name" = i."name" JOIN pragma_index_info(i."name") c
    WHERE i."type" = 'index' AND i."sql" IS NOT NULL ORDER BY i."name", c."seqno"`);
  const indexesOf = Map.groupBy(indexes, ({ table }) => table);
  return [...Map.groupBy(columns, ({ table }) => table)].map(([name, rows]) => ({
    name,
    columns: new Map(rows.map((row) => [row.name, toColumn(row)])),
    indexes: new Map(
      [...Map.groupBy(indexesOf.get(name) ?? [], (row) => row.name)].map(([index, parts]) => [index, toIndex(index, { parts, rows })]),
    ),
  }));
}

function toColumn({ name, type, refers }: ColumnRow): ActualColumn {
  return { name, type, ...(refers !== null && { references: refers }) };
}

interface IndexRows {
  readonly parts: readonly IndexRow[];
  /** The columns of the table. */
  readonly rows: readonly ColumnRow[];
}

function toIndex(name: string, { parts, rows }: IndexRows): ActualIndex {
  const columns = parts.map(({ column }) => column);
  const { unique, partial, condition } = parts[0] ?? {};
  const named = condition ? rows.map((row) => row.name).filter((column) => condition.includes(quoteName(column))) : [];
  return { name, unique: unique === 1, partial: partial === 1, columns, reads: new Set([...columns, ...named]) };
}
