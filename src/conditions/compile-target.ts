/** The target and the parts of a condition that is compiled to SQL. */
import type { SqlColumn, SqlDialect, SqlTruth } from '../operators/index.ts';
import type { Sql } from '../sql.ts';
import type { KindLookup } from './comparison-kind.ts';
import type { Path, Related, RelatedLink, Some, Within } from './condition.ts';

/** The tables and the database that a condition is compiled for. */
export interface SqlTarget {
  readonly dialect: SqlDialect;
  /** Returns the column of a record's path; undefined if no column holds it. */
  column(path: Path): SqlColumn | undefined;
  /** Returns the location of a path inside a JSON column; undefined if the path is not inside a JSON column or must be evaluated in memory. */
  json?(path: Path): JsonLocation | undefined;
  /**
   * Returns a condition that is true if all records on the way of a path exist, and unknown otherwise; undefined for a path through less than two
   * references. A comparison with the condition has the same result, and SQLite can turn the outer joins into inner joins and begin with the last
   * table.
   */
  joined?(path: Path): Sql | undefined;
  /**
   * Returns the target of a condition on related records, in which their alias has columns; undefined if the condition must be evaluated in memory.
   * Absent if the target has no related records.
   */
  related?(related: Related): RelatedTarget | undefined;
  /** Returns the target of a condition on ancestors; undefined if it must be evaluated in memory. Absent if the target has no hierarchies. */
  ancestors?(within: Within): AncestorsTarget | undefined;
  /** Returns the target of a comparison through a list, in which its alias has columns; undefined if it must be evaluated in memory. */
  items?(some: Some): ItemsTarget | undefined;
  kindOf: KindLookup;
  /** The current time in milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string;
}

/** The related records of one condition in a statement. */
export interface RelatedTarget extends SqlTarget {
  /** Returns the FROM items: at most `limit` related records that meet `where`, joined with those of their references. */
  tables(where: Sql, limit: number): Sql;
  /** A condition that excludes the decided record; undefined if it cannot be one of the related records. */
  readonly withoutOwn: Sql | undefined;
  /** The related records of all rows; absent if the related records of each row must be searched. */
  readonly ofAllRows?: RelatedOfAllRows | undefined;
}

/** The related records of all rows of a list, which the caller determines except for one field of the row. */
export interface RelatedOfAllRows {
  /** The link to that field. Both sides are texts. */
  readonly open: RelatedLink;
  /** The column of that field in the row. */
  readonly outer: SqlColumn;
  /** The linking column. */
  readonly inner: SqlColumn;
  /** True if at most one record has the same values of all links. */
  readonly isUnique: boolean;
  /** Returns the FROM items: all related records that meet `where`, joined with those of their references. */
  tables(where: Sql): Sql;
}

/** The records of one list in a statement. */
export interface ItemsTarget extends SqlTarget {
  /** Returns the FROM items: at most `limit` items of the list, joined with their records and those of their references. A missing list is one item without a record. */
  tables(limit: number): Sql;
}

/** The ancestors of one condition in a statement. */
export interface AncestorsTarget {
  /** The id of the first record, which is NULL if there is none. */
  readonly first: SqlColumn;
  /** The id of one of the records. */
  readonly id: SqlColumn;
  /** Renders the result of the condition from the comparison of one record. */
  whereAny(matches: SqlTruth): SqlTruth;
}

/** A location inside a JSON column. */
export interface JsonLocation {
  readonly document: Sql;
  /** The keys below the column's value; empty for the whole value. */
  readonly keys: readonly string[];
}

/** A compiled part of the condition; `anything` if SQL cannot express the part, which then counts as true for every row. */
export type Part = { readonly truth: Sql<boolean | null>; readonly height: number } | 'anything';
