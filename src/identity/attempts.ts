import { createHash } from 'node:crypto';
import { sql } from '../sql/index.ts';
import type { Transaction } from '../storage/index.ts';
import { toCountedAddress } from './address.ts';

/** How many logins may be tried. */
export interface AttemptSettings {
  /** Per account and window. */
  readonly loginAttempts: number;
  readonly loginAttemptsPerAddress: number;
  readonly loginWindowSeconds: number;
}

/** Whose login is tried, from where. The account need not exist. */
export interface Attempt {
  readonly email: string;
  readonly ip: string;
}

/**
 * Counts an attempt for its account and for its address; the database holds the counts, so that every replica goes by them.
 * Answers how many seconds to wait where there were too many already, undefined where it may go on.
 *
 * Accepted risk: whoever knows an email can keep its owner from logging in, for a window at a time.
 */
export async function countAttempt(tx: Transaction, attempt: Attempt, settings: AttemptSettings): Promise<number | undefined> {
  const waits = [
    await countOne(tx, accountKey(attempt), { most: settings.loginAttempts, seconds: settings.loginWindowSeconds }),
    await countOne(tx, addressKey(attempt), { most: settings.loginAttemptsPerAddress, seconds: settings.loginWindowSeconds }),
  ];
  const wait = Math.max(...waits);
  return wait > 0 ? wait : undefined;
}

/**
 * After a login that worked: the account starts afresh. The address gets back only this attempt:
 * else one account of their own would buy an attacker any number of attempts on others.
 */
export async function forgetAttempts(tx: Transaction, attempt: Attempt): Promise<void> {
  await tx.run(sql`delete from "_LoginAttempt" where "id" = ${accountKey(attempt)}`);
  await tx.run(sql`update "_LoginAttempt" set "count" = "count" - 1 where "id" = ${addressKey(attempt)} and "count" > 0`);
}

/** Removes counts whose window is over. */
export async function sweepAttempts(tx: Transaction, settings: AttemptSettings): Promise<void> {
  await tx.run(sql`delete from "_LoginAttempt" where "windowStart" <= ${windowsBegunBy(tx.now, settings.loginWindowSeconds)}`);
}

interface Limit {
  readonly most: number;
  readonly seconds: number;
}

/** Counts and reads in one statement: of many at once, each sees the ones before it. */
async function countOne(tx: Transaction, id: string, { most, seconds }: Limit): Promise<number> {
  const now = new Date(tx.now).toISOString();
  const over = windowsBegunBy(tx.now, seconds);
  const row = await tx.one<{ count: number; windowStart: string }>(sql`
    insert into "_LoginAttempt" ("id", "windowStart", "count") values (${id}, ${now}, 1)
    on conflict ("id") do update set
      "count" = case when "_LoginAttempt"."windowStart" <= ${over} then 1 else "_LoginAttempt"."count" + 1 end,
      "windowStart" = case when "_LoginAttempt"."windowStart" <= ${over} then excluded."windowStart" else "_LoginAttempt"."windowStart" end
    returning "count", "windowStart"`);
  if (row === undefined || row.count <= most) return 0;
  return Math.max(1, Math.ceil((Date.parse(row.windowStart) - tx.now) / 1000 + seconds));
}

function windowsBegunBy(now: number, seconds: number): string {
  return new Date(now - seconds * 1000).toISOString();
}

function accountKey({ email }: Attempt): string {
  return digest(`account ${email}`);
}

function addressKey({ ip }: Attempt): string {
  return digest(`address ${toCountedAddress(ip)}`);
}

/** Keys are what callers send, of any length, and personal: neither belongs in a table. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
