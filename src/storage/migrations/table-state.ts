import type { ColumnType } from '../../fields/index.ts';
import type { Resource } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { quoteName } from '../table-names.ts';
import type { AppliedField, ArchivedColumn } from './applied-definitions.ts';

/** A column that exists in the database. */
export interface ActualColumn {
  readonly name: string;
  /** The type in the syntax of the database, such as TEXT or INTEGER. */
  readonly type: string;
  /** The table that the foreign key of the column references; absent without a foreign key. */
  readonly references?: string;
  /** The name of the foreign key; absent if the database does not name foreign keys. */
  readonly constraint?: string;
}

/** An index that exists in the database. */
export interface ActualIndex {
  readonly name: string;
  readonly unique: boolean;
  readonly columns: readonly string[];
  /** True for a partial index. The name of a managed index contains a hash of its condition. */
  readonly partial: boolean;
  /** The columns of the index and of its condition. */
  readonly reads: ReadonlySet<string>;
}

/** A table that exists in the database. */
export interface ActualTable {
  readonly name: string;
  readonly columns: ReadonlyMap<string, ActualColumn>;
  readonly indexes: ReadonlyMap<string, ActualIndex>;
  /** The column that the table is partitioned by; absent if it is not partitioned. */
  readonly partitionBy?: string;
}

/** The DDL and introspection of one database system. */
export interface TableDialect {
  /** Column types in DDL, as introspection returns them. */
  readonly columnTypes: Readonly<Record<ColumnType, string>>;
  /** The types in CAST, by column type. */
  readonly castTypes: Readonly<Record<ColumnType, string>>;
  /** The end of `CREATE TABLE`, after the columns. */
  readonly tableOptions: string;
  /** True if a foreign key can be created only after the table that it references. */
  readonly referencesLast: boolean;
  /** The number of bytes of values that fit into an index entry without compression; absent if the database has no limit. */
  readonly maxIndexBytes?: number;
  /** Returns the SQL of a column in `CREATE INDEX`, with the sort order of lists. */
  indexPart(column: string): string;
  /** Returns a boolean literal. */
  booleanText(value: boolean): string;
  /** The DDL of partitioned tables; undefined if the database ignores `partitionBy`. */
  readonly partitions?: PartitionDialect | undefined;
  /** Returns SQL that removes the references of a column, so that the referenced table can be dropped. */
  dropReferenceSql(table: ActualTable, column: ActualColumn): string;
  /** Creates missing SQL functions that statements call. */
  prepare(tx: Transaction): Promise<void>;
  /** A text for the log of long steps. It names the requests that wait until the step is done. */
  readonly waitNotice: string;
  /** Locks tables against all other access until the transaction ends. */
  lockTables(tx: Transaction, tables: readonly string[]): Promise<void>;
  introspect(tx: Transaction): Promise<readonly ActualTable[]>;
  hasTable(tx: Transaction, name: string): Promise<boolean>;
}

/** The DDL of tables with one partition per day. */
export interface PartitionDialect {
  /** The end of `CREATE TABLE`, after the columns. */
  tableOptions(column: string): string;
  /** Returns SQL that creates the default partition, for rows whose day has no partition. */
  restSql(table: string): string;
  /** Returns SQL that turns a table into the first partition of a new table, without the managed indexes. */
  convertSql(table: ActualTable, column: string): readonly string[];
  /** Creates missing partitions for the given days, and for the days of rows in the default partition; returns the number created. */
  make(tx: Transaction, table: Partitioned, days: readonly string[]): Promise<number>;
  /**
   * Drops the first partition in a range, except for the rows to keep; returns undefined if the range has no partition. Takes the same time
   * for any number of rows. Fails with STORAGE_BUSY instead of making other transactions wait for long.
   */
  drop(tx: Transaction, table: Partitioned, which: PartitionToDrop): Promise<DroppedPartition | undefined>;
}

/** A partitioned table. */
export interface Partitioned {
  readonly table: string;
  /** The column whose day decides the partition. */
  readonly column: string;
}

/** The range of partitions that may be dropped. */
export interface PartitionToDrop {
  /** The partition ends on or before this day: `2026-01-31`. */
  readonly before: string;
  /** The end of the partition that was dropped last; undefined before the first drop. */
  readonly after: string | undefined;
  /** Returns a SELECT of the rows of a partition that are kept. */
  staying(partition: Sql): Sql;
}

/** A dropped partition. */
export interface DroppedPartition {
  /** The first day after the dropped partition. */
  readonly until: string;
}

/** A resource and its existing table. */
export interface TableState {
  /** The resource as newly defined. */
  readonly resource: Resource;
  /** The table under its new name. */
  readonly actual: ActualTable;
  /** The name of the table before any step, for the queries of preconditions. */
  readonly currentName: string;
  /** The resource as last applied; undefined if it was never applied or cannot be parsed. */
  readonly applied: Resource | undefined;
  readonly wasArchived: boolean;
  readonly archivedFields: ReadonlyMap<string, AppliedField>;
  /** The columns that conversions archived, by field name, oldest first. */
  readonly archivedColumns: ReadonlyMap<string, readonly ArchivedColumn[]>;
  readonly dialect: TableDialect;
  /** Returns the name that the table of a resource has before any step; undefined if the resource has no table. */
  currentNameOf(resource: string): string | undefined;
  /** Returns a table expression with one row, `value`, for each item of a stored list. */
  listItems(list: Sql): Sql;
}

/** Returns SQL that names the table as it is called before any step. */
export function tableBefore({ currentName }: TableState): Sql {
  return sql.raw(quoteName(currentName));
}

/** Returns SQL that names a column, qualified with the name of the table before any step. */
export function columnBefore({ currentName }: TableState, column: string): Sql {
  return sql.raw(`${quoteName(currentName)}.${quoteName(column)}`);
}
