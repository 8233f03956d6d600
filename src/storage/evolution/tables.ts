import type { RawBuilder } from 'kysely';
import type { ColumnType, Field } from '../../fields/index.ts';
import type { Resource } from '../../resource/index.ts';
import type { Transaction } from '../database.ts';

/** A column as the database has it. */
export interface ActualColumn {
  readonly name: string;
  /** In the database's words: TEXT, INTEGER. */
  readonly type: string;
  /** The table that its foreign key points to. */
  readonly refers?: string;
}

/** An index as the database has it. */
export interface ActualIndex {
  readonly name: string;
  readonly unique: boolean;
  readonly columns: readonly string[];
}

/** A table as the database has it. */
export interface ActualTable {
  readonly name: string;
  readonly columns: ReadonlyMap<string, ActualColumn>;
  readonly indexes: ReadonlyMap<string, ActualIndex>;
}

/** How databases differ in tables. Each database brings one of these. */
export interface TableDialect {
  readonly columnTypes: Readonly<Record<ColumnType, string>>;
  /** What follows the columns of a new table. */
  readonly tableOptions: string;
  introspect(tx: Transaction): Promise<readonly ActualTable[]>;
}

/** One resource and the table that is there for it. */
export interface Table {
  /** As it is to be. */
  readonly resource: Resource;
  readonly actual: ActualTable;
  /** As it was last applied; undefined where it never was, or can no longer be read. */
  readonly applied: Resource | undefined;
  /** Whether it was out of force. */
  readonly wasAside: boolean;
  /** Fields kept aside, as they were. */
  readonly keptFields: ReadonlyMap<string, Field>;
  readonly dialect: TableDialect;
  /** Whether the database has a table of that name, before any step is done. */
  exists(table: string): boolean;
  /** A table expression with one row, `value`, for each item of a stored list. */
  listItems(list: RawBuilder<unknown>): RawBuilder<unknown>;
}
