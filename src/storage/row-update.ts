import { type Sql, sql } from '../sql.ts';

/** A change of one row, found by its id and its version. */
export interface RowUpdate {
  /** The table and the id of the row. */
  readonly row: string;
  readonly table: Sql;
  readonly assignments: Sql;
  readonly where: Sql;
}

/** The way in which a unit of work changes a row. */
export interface RowUpdateOptions {
  /** True if it has loaded the row without a lock. If the row has changed since, the unit of work runs again, with locks. */
  readonly isOptimistic: boolean;
  /**
   * True if the change of a row without a lock may be sent with the commit: it changes no unique value, and no later statement of the unit of work
   * depends on it.
   */
  readonly isDeferrable: boolean;
}

/** Renders the statement of a change of one row. */
export function updateSql({ table, assignments, where }: RowUpdate): Sql {
  return sql`UPDATE ${table} SET ${assignments} WHERE ${where}`;
}
