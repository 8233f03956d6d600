import type { ColumnType } from '../../fields/index.ts';
import type { Resource } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { quoteName } from '../table-names.ts';
import type { AppliedField, ArchivedColumn } from './applied-definitions.ts';

/** A column as the database has it. */
export interface ActualColumn {
  readonly name: string;
  /** In the database's words: TEXT, INTEGER. */
  readonly type: string;
  /** The table that its foreign key points to. */
  readonly refers?: string;
  /** The name of that key, where keys have names. */
  readonly constraint?: string;
}

/** An index as the database has it. */
export interface ActualIndex {
  readonly name: string;
  readonly unique: boolean;
  readonly columns: readonly string[];
  /** Whether it holds only some of the rows. Which, is in the name of an index of ours. */
  readonly partial: boolean;
}

/** A table as the database has it. */
export interface ActualTable {
  readonly name: string;
  readonly columns: ReadonlyMap<string, ActualColumn>;
  readonly indexes: ReadonlyMap<string, ActualIndex>;
  /** The column by which its rows are in partitions; absent where it has none. */
  readonly partitionBy?: string;
}

/** How databases differ in tables. Each database brings one of these. */
export interface TableDialect {
  /** As a column is made, and as `ActualColumn` has it. */
  readonly columnTypes: Readonly<Record<ColumnType, string>>;
  /** As a value is cast. */
  readonly castTypes: Readonly<Record<ColumnType, string>>;
  /** What follows the columns of a new table. */
  readonly tableOptions: string;
  /** Whether a table can be made only once those that it refers to are there. */
  readonly referencesLast: boolean;
  /** A column as a part of an index that can be walked in the order of lists. */
  indexPart(column: string): string;
  /** True and false where no value can be bound. */
  booleanText(value: boolean): string;
  /** Undefined where a table is kept whole, whatever its definition asks for. */
  readonly partitions?: PartitionDialect | undefined;
  /** SQL after which a table no longer keeps the one that a column of it refers to from being dropped. */
  loosen(table: ActualTable, column: ActualColumn): string;
  /** Makes what comparisons need beside tables, where it is missing. */
  prepare(tx: Transaction): Promise<void>;
  /** Which requests wait while tables are changed, and why. */
  readonly waiting: string;
  /** Keeps everybody else out of tables until the transaction ends. */
  hold(tx: Transaction, tables: readonly string[]): Promise<void>;
  introspect(tx: Transaction): Promise<readonly ActualTable[]>;
  hasTable(tx: Transaction, name: string): Promise<boolean>;
}

/** How a database keeps a table in partitions, each of a day of one of its columns. */
export interface PartitionDialect {
  /** What follows the columns of a new table. */
  tableOptions(column: string): string;
  /** SQL that makes the partition for rows whose day has none. */
  restSql(table: string): string;
  /** SQL by which a table that is whole becomes the first of its partitions, without indexes of ours. */
  convertSql(table: ActualTable, column: string): readonly string[];
  /** Makes partitions for these days where there are none, and for the days of rows that have none; answers how many. */
  make(tx: Transaction, table: Partitioned, days: readonly string[]): Promise<number>;
  /**
   * Drops the first partition that ends by a day and begins behind another, all but the rows that stay, whatever their number in an
   * instant; undefined where there is none. Fails with STORAGE_BUSY rather than make others wait for long.
   */
  drop(tx: Transaction, table: Partitioned, which: PartitionToDrop): Promise<DroppedPartition | undefined>;
}

/** A table in partitions. */
export interface Partitioned {
  readonly table: string;
  /** The column by whose days it is. */
  readonly column: string;
}

/** Which partition may go. */
export interface PartitionToDrop {
  /** A day: `2026-01-31`. */
  readonly before: string;
  /** Where the one before ended; undefined for the first of all. */
  readonly after: string | undefined;
  /** A query for those rows of it that stay all the same. */
  staying(partition: Sql): Sql;
}

/** A partition that went. */
export interface DroppedPartition {
  /** The first day that was not in it. */
  readonly until: string;
}

/** One resource and the table that is there for it. */
export interface TableState {
  /** As it is to be. */
  readonly resource: Resource;
  /** Under the name that it is to have. */
  readonly actual: ActualTable;
  /** The name that it has before any step is done: what rows are asked by. */
  readonly stored: string;
  /** As it was last applied; undefined where it never was, or can no longer be read. */
  readonly applied: Resource | undefined;
  /** Whether it was out of force. */
  readonly wasAside: boolean;
  /** Fields kept aside, as they were. */
  readonly keptFields: ReadonlyMap<string, AppliedField>;
  /** Columns kept aside by conversions, by field, the oldest first. */
  readonly columnsAside: ReadonlyMap<string, readonly ArchivedColumn[]>;
  readonly dialect: TableDialect;
  /** The name that the table of a resource has before any step is done; undefined where there is none. */
  storedName(resource: string): string | undefined;
  /** A table expression with one row, `value`, for each item of a stored list. */
  listItems(list: Sql): Sql;
}

/** The table, for asking its rows before any step is done. */
export function rowsBefore({ stored }: TableState): Sql {
  return sql.raw(quoteName(stored));
}

/** A column of it, for the same. */
export function columnBefore({ stored }: TableState, column: string): Sql {
  return sql.raw(`${quoteName(stored)}.${quoteName(column)}`);
}
