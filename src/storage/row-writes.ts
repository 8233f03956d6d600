/** Changes and insertions of one row. The unit of work may have read the rows on which they depend without locks. */
import { getOrCreate } from '../memoize.ts';
import type { StoredType } from '../operators/index.ts';
import type { Resource } from '../resources/index.ts';
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

/** The resource and the ids of several records. */
export interface RecordIds {
  readonly resource: Resource;
  readonly ids: readonly string[];
}

/** A new row. What it depends on was looked up without locks. */
export interface RowInsertion {
  /** The table and the id of the row. */
  readonly row: string;
  readonly table: Sql;
  readonly columns: readonly { readonly name: string; readonly type: StoredType }[];
  /** The text of the INSERT, and the values in the order of the columns. */
  readonly statement: { readonly sql: string; readonly parameters: readonly unknown[] };
  /** The positions of the columns with ids of records that must exist. If one of them is gone, the unit of work runs again, with locks. */
  readonly references: readonly { readonly at: number; readonly target: Resource }[];
  /** A text for each unique value of the row. The insertion of an equal one waits for the transaction of the first, and is refused. */
  readonly uniqueValues: readonly string[];
  /** True if the insertion may be sent with the commit: its unique values were free, and the unit of work does not read the table again. */
  readonly isDeferrable: boolean;
}

/** Returns the records that new rows reference, for each resource that they can reference. */
export function referencedBy(insertions: readonly RowInsertion[]): readonly RecordIds[] {
  const found = new Map<string, { readonly resource: Resource; readonly ids: Set<string> }>();
  for (const { references, statement } of insertions) {
    for (const { at, target } of references) {
      const { ids } = getOrCreate(found, target.name, () => ({ resource: target, ids: new Set<string>() }));
      const id = statement.parameters[at];
      if (typeof id === 'string') ids.add(id);
    }
  }
  return [...found.values()].map(({ resource, ids }) => ({ resource, ids: [...ids] }));
}
