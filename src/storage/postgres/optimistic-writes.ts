/** Writes of one row, sent with the commit or at once. If rows that were read without locks have changed, the unit of work runs again. */
import type { Problem } from '../../errors.ts';
import { sql } from '../../sql.ts';
import type { Query } from '../contract.ts';
import { type RecordIds, type RowInsertion, type RowUpdate, type RowUpdateOptions, referencedBy, updateSql } from '../row-writes.ts';
import { existingIds } from '../table-names.ts';
import type { QueryResult } from './connection.ts';
import { type DeferredWrite, toDeferredInsertion, toDeferredUpdate } from './deferred-writes.ts';
import { postgresDialect } from './sql-dialect.ts';

/** The parts of a unit of work that its writes use. */
export interface WritingWork {
  /** Defers a write until the commit. Returns false if it must be done at once. */
  defer(write: () => DeferredWrite | undefined): boolean;
  /** Prepares for a statement that writes. */
  announceWrite(): void;
  query(query: Query): Promise<QueryResult>;
  /** Marks the transaction for a retry with locks, and returns the problem to throw. */
  markStale(): Problem;
}

/** Changes a row. Returns false if there is no such row and the row was locked; without a lock, the unit of work runs again. */
export async function updateRow(work: WritingWork, update: RowUpdate, { isOptimistic, isDeferrable }: RowUpdateOptions): Promise<boolean> {
  if (isOptimistic && isDeferrable && work.defer(() => toDeferredUpdate(update))) return true;
  work.announceWrite();
  const { changes } = await work.query(updateSql(update));
  if (changes === 0 && isOptimistic) throw work.markStale();
  return changes > 0;
}

/** Inserts a row. If one of its references is gone, the unit of work runs again. */
export async function insertRow(work: WritingWork, insertion: RowInsertion): Promise<void> {
  if (insertion.isDeferrable && work.defer(() => toDeferredInsertion(insertion))) return;
  work.announceWrite();
  // All statements are sent at once.
  const locks = referencedBy([insertion]).map((referenced) => lockReferenced(work, referenced));
  const inserted = work.query(insertion.statement);
  // If a reference is gone, the foreign key refuses the row too, and the retry reports it.
  inserted.catch(() => undefined);
  if ((await Promise.all(locks)).includes(false)) throw work.markStale();
  await inserted;
}

/** Locks referenced records. Returns false if one of them is gone. */
async function lockReferenced(work: WritingWork, referenced: RecordIds): Promise<boolean> {
  if (referenced.ids.length === 0) return true;
  const { rows } = await work.query(sql`${existingIds(postgresDialect, referenced)} FOR KEY SHARE`);
  return rows.length === referenced.ids.length;
}
