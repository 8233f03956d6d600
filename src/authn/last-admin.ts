import { Problem } from '../errors.ts';
import { sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';

/** Whether any admin exists, active or not: setup is open only while none does. */
export async function hasAdmin(tx: Transaction): Promise<boolean> {
  return (await tx.one(sql`select 1 as "found" from "User" where "role" = 'admin' limit 1`)) !== undefined;
}

/** What a request would make of a user. Absent members stay as they are. */
export interface UserChange {
  readonly userId: string;
  readonly role?: string | undefined;
  readonly isActive?: boolean | undefined;
  readonly deleted?: boolean | undefined;
}

/**
 * Refuses what would leave no active admin: nobody could open the door again, and setup would not either.
 * In the transaction of the change.
 *
 * @throws Problem IDENTITY_LAST_ADMIN
 */
export async function checkLastAdmin(tx: Transaction, change: UserChange): Promise<void> {
  const stays = change.deleted !== true && (change.role ?? 'admin') === 'admin' && change.isActive !== false;
  if (stays || !(await isActiveAdmin(tx, change.userId))) return;
  // Where transactions run side by side, two admins could demote each other, each seeing the other still there: let one wait.
  await tx.lock('last admin');
  const other = await tx.one(sql`
    select 1 as "found" from "User" where "role" = 'admin' and "isActive" = true and "id" <> ${change.userId} limit 1`);
  if (other === undefined) throw new Problem('IDENTITY_LAST_ADMIN', 'this user is the last active admin, and one must remain');
}

async function isActiveAdmin(tx: Transaction, userId: string): Promise<boolean> {
  return (
    (await tx.one(sql`select 1 as "found" from "User" where "id" = ${userId} and "role" = 'admin' and "isActive" = true`)) !== undefined
  );
}
