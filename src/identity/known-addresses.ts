import { createHash } from 'node:crypto';
import { sql } from '../sql/index.ts';
import type { Transaction } from '../storage/index.ts';
import { toCountedAddress } from './address.ts';

/** Days for which an address stays known after a login from it. */
const KNOWN_DAYS = 90;
/** Known addresses of one user: the ones of the latest logins. */
const KNOWN_AT_MOST = 20;
const DAY = 86_400_000;

/** Returns whether the account of this email has logged in from the address lately. For unknown accounts it costs the same. */
export async function isKnownAddress(tx: Transaction, { email, ip }: { readonly email: string; readonly ip: string }): Promise<boolean> {
  const users = await tx.all<{ id: string; userId: string }>(sql`
    select a."id" as "id", u."id" as "userId" from "User" u join "_LoginAddress" a on a."userId" = u."id"
    where u."email" = ${email} and a."lastAt" > ${before(tx.now, KNOWN_DAYS)}`);
  return users.some(({ id, userId }) => id === toKey(userId, ip));
}

/** Remembers that a user has logged in from an address. */
export async function rememberAddress(tx: Transaction, userId: string, ip: string): Promise<void> {
  await tx.run(sql`
    insert into "_LoginAddress" ("id", "userId", "lastAt") values (${toKey(userId, ip)}, ${userId}, ${before(tx.now, 0)})
    on conflict ("id") do update set "lastAt" = excluded."lastAt"`);
  await tx.run(sql`
    delete from "_LoginAddress" where "userId" = ${userId} and "id" not in (
      select "id" from "_LoginAddress" where "userId" = ${userId} order by "lastAt" desc, "id" limit ${KNOWN_AT_MOST})`);
}

/** Removes addresses that are known no longer, and those of users who are gone. */
export async function sweepAddresses(tx: Transaction): Promise<void> {
  await tx.run(sql`
    delete from "_LoginAddress" where "lastAt" <= ${before(tx.now, KNOWN_DAYS)}
    or not exists (select 1 from "User" u where u."id" = "_LoginAddress"."userId")`);
}

function before(now: number, days: number): string {
  return new Date(now - days * DAY).toISOString();
}

/** Addresses are personal: the table holds no readable ones. */
function toKey(userId: string, ip: string): string {
  return createHash('sha256')
    .update(`${userId} ${toCountedAddress(ip)}`)
    .digest('hex');
}
