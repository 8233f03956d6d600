import { Problem } from '../errors.ts';
import { sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';

/** Returns true if an admin exists, active or not. Setup is possible only while there is none. */
export async function hasAdmin(tx: Transaction): Promise<boolean> {
  return (await tx.one(sql`select 1 as "found" from "User" where "role" = 'admin' limit 1`)) !== undefined;
}

/** A planned change of a user that may be an admin. Absent members do not change. */
export interface AdminUserChange {
  readonly userId: string;
  readonly role?: string | undefined;
  readonly isActive?: boolean | undefined;
  readonly deleted?: boolean | undefined;
  readonly removesPassword?: boolean | undefined;
}

/**
 * Refuses a change that would leave no active admin with a password, who can log in. No API request could create another one, and setup is
 * closed while any admin exists. Must run in the transaction of the change.
 *
 * @throws Problem IDENTITY_LAST_ADMIN
 */
export async function validateAdminRemains(tx: Transaction, change: AdminUserChange): Promise<void> {
  const { deleted, role = 'admin', isActive, removesPassword } = change;
  const remainsAdmin = deleted !== true && role === 'admin' && isActive !== false && removesPassword !== true;
  if (remainsAdmin || !(await isActiveAdmin(tx, change.userId))) return;
  // Without the lock, two admins could demote each other in concurrent transactions, each of which sees the other as active.
  await tx.lock('last admin');
  const other = await tx.one(sql`
    select 1 as "found" from "User"
    where "role" = 'admin' and "isActive" = true and "password" is not null and "id" <> ${change.userId} limit 1`);
  if (other === undefined)
    throw new Problem('IDENTITY_LAST_ADMIN', 'no other active admin has a password, and one who can log in must remain');
}

async function isActiveAdmin(tx: Transaction, userId: string): Promise<boolean> {
  return (
    (await tx.one(sql`select 1 as "found" from "User" where "id" = ${userId} and "role" = 'admin' and "isActive" = true`)) !== undefined
  );
}
