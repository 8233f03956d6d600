import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import type { ActualColumn, ActualIndex, ActualTable, TableDialect } from '../migrations/table-state.ts';
import { quoteName } from '../table-names.ts';
import { FOLD_CASE, foldCaseSql } from './case-folding.ts';
import { postgresPartitions } from './partitions.ts';
import { CAST_TYPES } from './sql-dialect.ts';

/**
 * Creates and introspects tables in PostgreSQL. JSON columns are JSON, not JSONB, which would reorder keys, change the digits of numbers
 * and refuse some texts.
 */
export const postgresTables: TableDialect = Object.freeze({
  columnTypes: Object.freeze({ ...CAST_TYPES, text: 'TEXT COLLATE "C"' }),
  castTypes: CAST_TYPES,
  tableOptions: '',
  partitions: postgresPartitions,
  // PostgreSQL accepts a reference only to a table that exists.
  referencesLast: true,
  // The limit of a B-tree is 2,704 bytes, with a header and the padding of each value.
  maxIndexBytes: 2_500,
  // Lists sort records without a value first.
  indexPart: (column: string) => (column === 'id' ? quoteName(column) : `${quoteName(column)} NULLS FIRST`),
  booleanText: (value: boolean) => (value ? 'TRUE' : 'FALSE'),
  dropReferenceSql: ({ name }: ActualTable, { constraint = '' }: ActualColumn) =>
    `ALTER TABLE ${quoteName(name)} DROP CONSTRAINT ${quoteName(constraint)}`,
  waitNotice: 'requests that use this table wait meanwhile',
  prepare,
  lockTables,
  introspect,
  hasTable: async (tx: Transaction, name: string) =>
    (await tx.one(
      sql`SELECT 1 FROM pg_class WHERE relname = ${name} AND relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace`,
    )) !== undefined,
});

/** Creates the functions for case folding and commit validation. */
async function prepare(tx: Transaction): Promise<void> {
  await prepareFunction(tx, FOLD_CASE, foldCaseSql);
  // Imported on demand: installations with SQLite load this file too, and must not load the PostgreSQL driver.
  const { COMMIT_VALIDATION_FUNCTION, commitValidationSql } = await import('./commit-validation.ts');
  await prepareFunction(tx, COMMIT_VALIDATION_FUNCTION, commitValidationSql);
  const { STALE_FUNCTION, staleFunctionSql } = await import('./relation-checks.ts');
  await prepareFunction(tx, STALE_FUNCTION, staleFunctionSql);
}

async function prepareFunction(tx: Transaction, name: string, toSql: () => string): Promise<void> {
  const known = await tx.one(sql`SELECT 1 FROM pg_proc WHERE proname = ${name} AND pronamespace = current_schema()::regnamespace`);
  if (known !== undefined) return;
  // Without the lock, one of two transactions that create the function at the same time would fail.
  await tx.lock(name);
  await tx.run(sql.raw(toSql()));
}

/** Locks tables exclusively before they are read: with a weaker lock, two migrations would each block the other's change. */
async function lockTables(tx: Transaction, tables: readonly string[]): Promise<void> {
  if (tables.length === 0) return;
  await tx.run(sql`LOCK TABLE ${sql.join(tables.map((name) => sql.table(name)))} IN ACCESS EXCLUSIVE MODE`);
}

interface ColumnRow {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly collation: string | null;
  readonly refers: string | null;
  readonly constraint: string | null;
  readonly partitionBy: string | null;
}

interface IndexRow {
  readonly table: string;
  readonly name: string;
  readonly unique: number;
  readonly partial: number;
  readonly column: string;
  /** The columns of the index and of its condition, as a JSON array. */
  readonly reads: string | null;
}

/** True for a relation `t` of the schema. `pg_class` has no index by schema; a scan would read the relations of all schemas of the database. */
const IS_IN_SCHEMA = sql.raw(`t.oid IN (SELECT objid FROM pg_depend WHERE classid = 'pg_class'::regclass
      AND refclassid = 'pg_namespace'::regclass AND refobjid = current_schema()::regnamespace)`);

async function introspect(tx: Transaction): Promise<readonly ActualTable[]> {
  const columns = await tx.all<ColumnRow>(sql`
    SELECT t.relname AS "table", c.attname AS "name", upper(format_type(c.atttypid, c.atttypmod)) AS "type", l.collname AS "collation",
      r.relname AS "refers", k.conname AS "constraint",
      (SELECT b.attname FROM pg_partitioned_table p JOIN pg_attribute b ON b.attrelid = p.partrelid AND b.attnum = p.partattrs[0]
        WHERE p.partrelid = t.oid) AS "partitionBy"
    FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid AND c.attnum > 0 AND NOT c.attisdropped
      LEFT JOIN pg_collation l ON l.oid = c.attcollation
      LEFT JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype = 'f' AND k.conkey = ARRAY[c.attnum] AND k.conparentid = 0
      LEFT JOIN pg_class r ON r.oid = k.confrelid
    WHERE t.relkind IN ('r', 'p') AND ${IS_IN_SCHEMA} AND NOT t.relispartition
    ORDER BY t.relname, c.attnum`);
  // A new database has no tables, and the next query takes several milliseconds.
  if (columns.length === 0) return [];
  // Leaves out the indexes that PostgreSQL creates for constraints.
  const indexes = await tx.all<IndexRow>(sql`
    SELECT t.relname AS "table", n.relname AS "name", i.indisunique AS "unique", i.indpred IS NOT NULL AS "partial", c.attname AS "column",
      (SELECT json_agg(a.attname)::text FROM pg_depend d JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
        WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND d.refclassid = d.classid AND d.refobjid = i.indrelid) AS "reads"
    FROM pg_index i JOIN pg_class n ON n.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
      CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS p(number, place)
      JOIN pg_attribute c ON c.attrelid = t.oid AND c.attnum = p.number
    WHERE ${IS_IN_SCHEMA} AND NOT t.relispartition
      AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.conrelid = t.oid)
    ORDER BY n.relname, p.place`);
  const indexesOf = Map.groupBy(indexes, ({ table }) => table);
  return [...Map.groupBy(columns, ({ table }) => table)].map(([name, rows]) => ({
    name,
    ...(typeof rows[0]?.partitionBy === 'string' && { partitionBy: rows[0].partitionBy }),
    columns: new Map(rows.map((row) => [row.name, toColumn(row)])),
    indexes: new Map(
      [...Map.groupBy(indexesOf.get(name) ?? [], (row) => row.name)].map(([index, parts]) => [index, toIndex(index, parts)]),
    ),
  }));
}

function toColumn({ name, type, collation, refers, constraint }: ColumnRow): ActualColumn {
  const full = collation === null || collation === 'default' ? type : `${type} COLLATE "${collation}"`;
  return { name, type: full, ...(refers !== null && { references: refers }), ...(constraint !== null && { constraint }) };
}

function toIndex(name: string, parts: readonly IndexRow[]): ActualIndex {
  const columns = parts.map(({ column }) => column);
  const { unique, partial, reads } = parts[0] ?? {};
  return { name, unique: unique === 1, partial: partial === 1, columns, reads: new Set(JSON.parse(reads ?? '[]') as readonly string[]) };
}
