import type { Issue } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Resource, StoredRecord } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { columnOf, tableOf } from '../table-names.ts';

/** A change of a stored record. */
interface Move {
  readonly before: StoredRecord;
  readonly values: JsonObject;
}

/**
 * Returns an issue if a change makes a record its own ancestor. Holds a lock of the hierarchy until the transaction ends, because two moves at the same
 * time, each of which is no cycle, can make one. A new record has no descendants, so only changes are checked.
 */
export async function validateMove(tx: Transaction, resource: Resource, { before, values }: Move): Promise<readonly Issue[]> {
  const { hierarchy } = resource;
  const parent = hierarchy === undefined || !Object.hasOwn(values, hierarchy) ? undefined : values[hierarchy];
  if (hierarchy === undefined || typeof parent !== 'string' || parent === before[hierarchy]) return [];
  await tx.lock(`hierarchy ${resource.name}`);
  const isOwnAncestor = parent === before.id || (await isAncestor(tx, resource, { id: before.id, of: parent }));
  if (!isOwnAncestor) return [];
  const detail = `expected another parent: ${parent === before.id ? 'a record cannot be its own parent' : 'this one is below the record itself'}`;
  return [{ path: hierarchy, code: 'cycle', detail }];
}

/**
 * Returns true if a record is an ancestor of another one. Follows soft-deleted records too, because they may be restored, and any number of levels,
 * although conditions compare few. UNION ends a cycle that another program has written.
 */
async function isAncestor(tx: Transaction, resource: Resource, { id, of }: { readonly id: string; readonly of: string }): Promise<boolean> {
  const [table, parent] = [tableOf(resource), columnOf(resource, resource.hierarchy ?? '')];
  const found = await tx.one(sql`WITH RECURSIVE "up"("id") AS (
      SELECT ${parent} FROM ${table} WHERE ${columnOf(resource, 'id')} = ${of}
      UNION SELECT ${parent} FROM "up" JOIN ${table} ON ${columnOf(resource, 'id')} = "up"."id" WHERE ${tx.dialect.deadlineCheck(table)})
    SELECT 1 AS "found" FROM "up" WHERE "id" = ${id} LIMIT 1`);
  return found !== undefined;
}
