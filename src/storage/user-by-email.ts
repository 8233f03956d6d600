import { didYouMean, Problem } from '../errors.ts';
import { fromRow, type Resource, type StoredRecord } from '../resources/index.ts';
import { sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import { selectionOf } from './table-names.ts';

/** Maximum number of stored emails with which a mistyped email is compared. */
const COMPARED = 10_000;

/** Loads the user with an email; `forUpdate` locks the row. @throws Problem USER_UNKNOWN, which names a similar email */
export async function loadUserByEmail(
  tx: Transaction,
  user: Resource,
  { email: given, forUpdate }: { readonly email: string; readonly forUpdate: boolean },
): Promise<StoredRecord> {
  const email = given.trim().toLowerCase();
  const lock = forUpdate ? tx.rowLock('noKeyUpdate') : sql``;
  const row = await tx.one(sql`select ${selectionOf(user)} from "User" where "email" = ${email}${lock}`);
  if (row !== undefined) return fromRow(user, row);
  const known = await tx.all<{ email: string }>(sql`select "email" from "User" order by "id" limit ${COMPARED}`);
  const near = didYouMean(
    email,
    known.map((each) => each.email),
  );
  throw new Problem('USER_UNKNOWN', `no user has the email "${email.slice(0, 254)}"${near}`);
}
