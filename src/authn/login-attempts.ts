import { createHash } from 'node:crypto';
import { toCountedAddress } from '../ip-address.ts';
import { type Sql, sql } from '../sql.ts';
import { CLOCK_LEEWAY_SECONDS, type Transaction } from '../storage/index.ts';
import { deleteSome } from './delete-some.ts';

/** The limits of login attempts. */
export interface LoginLimits {
  /** Maximum attempts per account and address in `loginWindowSeconds`. */
  readonly loginAttempts: number;
  readonly loginAttemptsPerAddress: number;
  readonly loginWindowSeconds: number;
  /** Maximum attempts per account in `loginAccountWindowSeconds`, from all addresses together without a recent login to the account. */
  readonly loginAttemptsPerAccount: number;
  readonly loginAccountWindowSeconds: number;
}

/** An attempt to log in to an account, which may not exist, from an address. */
export interface LoginAttempt {
  /** The email of a login, or the id of a user who sends the current password. */
  readonly account: string;
  readonly ip: string;
  /** Number of earlier attempts from the address that were refused and not counted; 0 if absent. */
  readonly uncounted?: number;
}

/** The refusal of an attempt, because there were too many. */
export interface Throttling {
  /** Seconds to wait. */
  readonly retryAfter: number;
  /** The number of attempts that were refused in this window, including this one. */
  readonly refusals: number;
  /** True if there were too many attempts from the address, so that all others from it are refused too. */
  readonly isAddressRefused: boolean;
  /** True if there were too many attempts of the account from the address. If one of those that were counted succeeds, the count is cleared. */
  readonly isPairRefused?: boolean;
}

/**
 * Counts an attempt in the database, so that the counts apply to all replicas. Returns a throttling if there were too many attempts
 * already; undefined if the attempt may proceed.
 *
 * Counts per account and address, and per address, so that wrong passwords from one address lock out that address and no other. An
 * attempt within both limits also counts per account, unless the account has logged in from the address recently. A refused attempt does
 * not count per account: otherwise one address could use up the limit of the account for all addresses. The address counts first: each further
 * email would otherwise add a row, also while all attempts from the address are refused.
 */
export async function countAttempt(tx: Transaction, attempt: LoginAttempt, limits: LoginLimits): Promise<Throttling | undefined> {
  const seconds = limits.loginWindowSeconds;
  const { uncounted = 0 } = attempt;
  const address = await countOne(tx, addressKey(attempt), { max: limits.loginAttemptsPerAddress, seconds, uncounted });
  if (address !== undefined) return { ...address, isAddressRefused: true };
  const pair = await countOne(tx, pairKey(attempt), { max: limits.loginAttempts, seconds });
  if (pair !== undefined) return { ...pair, isAddressRefused: false, isPairRefused: true };
  if (await isKnownAddress(tx, attempt)) return undefined;
  const limit = { max: limits.loginAttemptsPerAccount, seconds: limits.loginAccountWindowSeconds };
  const account = await countOne(tx, accountKey(attempt), limit);
  return account && { ...account, isAddressRefused: false };
}

/**
 * Returns true if a throttled attempt has an audit entry: the first, the tenth, the hundredth in a window and so on, because a client can
 * send throttled attempts at no cost.
 */
export function isRecorded({ refusals }: Pick<Throttling, 'refusals'>): boolean {
  return /^10*$/.test(String(refusals));
}

/**
 * Clears the attempts of an account from an address after a successful login. The counts per address and per account are reduced by this
 * attempt only: otherwise an attacker could reset the count of an address by logging in to an account of their own, and the count of an
 * account would reveal whether its owner logs in.
 */
export async function clearAttempts(tx: Transaction, attempt: LoginAttempt): Promise<void> {
  const counted = (await isKnownAddress(tx, attempt)) ? [addressKey(attempt)] : [addressKey(attempt), accountKey(attempt)];
  await tx.run(sql`delete from "_LoginAttempt" where "id" = ${pairKey(attempt)}`);
  for (const id of counted) await subtractOne(tx, id);
}

/** Subtracts an attempt whose password was not verified, because too many passwords were waiting. */
export async function subtractAttempt(tx: Transaction, attempt: LoginAttempt): Promise<void> {
  const keys = [addressKey(attempt), pairKey(attempt)];
  if (!(await isKnownAddress(tx, attempt))) keys.push(accountKey(attempt));
  for (const id of keys) await subtractOne(tx, id);
}

async function subtractOne(tx: Transaction, id: string): Promise<void> {
  await tx.run(sql`update "_LoginAttempt" set "count" = "count" - 1 where "id" = ${id} and "count" > 0`);
}

/** Clears the attempts per account, by its email and by the id of its user, for an operator who sets a new password of the account. */
export async function resetAccountAttempts(tx: Transaction, accounts: readonly string[]): Promise<void> {
  for (const account of accounts) await tx.run(sql`delete from "_LoginAttempt" where "id" = ${accountKey({ account, ip: '' })}`);
}

/** Deletes some counts whose window has ended. Returns true if more may be left. */
export function deleteExpiredAttempts(tx: Transaction, limits: LoginLimits): Promise<boolean> {
  const seconds = Math.max(limits.loginWindowSeconds, limits.loginAccountWindowSeconds);
  return deleteSome(tx, '_LoginAttempt', hasEnded(tx.now, seconds));
}

/** Counts a wrong setup token per address. Returns the seconds to wait if there were too many; otherwise undefined. */
export async function countSetupAttempt(tx: Transaction, ip: string, limits: LoginLimits): Promise<number | undefined> {
  const id = digest(`setup ${toCountedAddress(ip)}`);
  return (await countOne(tx, id, { max: limits.loginAttempts, seconds: limits.loginWindowSeconds }))?.retryAfter;
}

interface Limit {
  readonly max: number;
  readonly seconds: number;
  readonly uncounted?: number;
}

/** Counts an attempt; returns undefined within the limit. One statement, so that concurrent attempts are all counted. */
async function countOne(
  tx: Transaction,
  id: string,
  { max, seconds, uncounted = 0 }: Limit,
): Promise<Pick<Throttling, 'retryAfter' | 'refusals'> | undefined> {
  const now = new Date(tx.now).toISOString();
  const ended = hasEnded(tx.now, seconds);
  const row = await tx.one<{ count: number; windowStart: string }>(sql`
    insert into "_LoginAttempt" ("id", "windowStart", "count") values (${id}, ${now}, 1)
    on conflict ("id") do update set
      "count" = case when ${ended} then 1 else "_LoginAttempt"."count" + ${1 + uncounted} end,
      "windowStart" = case when ${ended} then excluded."windowStart" else "_LoginAttempt"."windowStart" end
    returning "count", "windowStart"`);
  if (row === undefined || row.count <= max) return undefined;
  return {
    retryAfter: Math.max(1, Math.ceil((Date.parse(row.windowStart) - tx.now) / 1000 + seconds)),
    refusals: row.count - max,
  };
}

/** Returns the SQL condition that a window has ended. A window that begins in the future has ended too: the clock was set back. */
function hasEnded(now: number, seconds: number): Sql {
  const at = (offset: number): string => new Date(now + offset * 1000).toISOString();
  return sql`("_LoginAttempt"."windowStart" <= ${at(-seconds)} or "_LoginAttempt"."windowStart" > ${at(CLOCK_LEEWAY_SECONDS)})`;
}

function pairKey({ account, ip }: LoginAttempt): string {
  return digest(`pair ${toCountedAddress(ip)} ${account}`);
}

function accountKey({ account }: LoginAttempt): string {
  return digest(`account ${account}`);
}

function addressKey({ ip }: LoginAttempt): string {
  return digest(`address ${toCountedAddress(ip)}`);
}

/** Hashes a key, because it is personal data and of any length. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Days for which an address stays known after a login from it. */
const KNOWN_DAYS = 90;
/** Maximum number of known addresses of a user: those of the latest logins. */
const MAX_KNOWN = 20;
const DAY = 86_400_000;

/** Returns true if the account of an email has logged in from the address recently. It takes the same time for an unknown account. */
async function isKnownAddress(tx: Transaction, { account, ip }: LoginAttempt): Promise<boolean> {
  const users = await tx.all<{ id: string; userId: string }>(sql`
    select a."id" as "id", u."id" as "userId" from "User" u join "_LoginAddress" a on a."userId" = u."id"
    where u."email" = ${account} and a."lastAt" > ${before(tx.now, KNOWN_DAYS)}`);
  return users.some(({ id, userId }) => id === toKey(userId, ip));
}

/** Saves an address from which a user has logged in. */
export async function rememberAddress(tx: Transaction, userId: string, ip: string): Promise<void> {
  await tx.run(sql`
    insert into "_LoginAddress" ("id", "userId", "lastAt") values (${toKey(userId, ip)}, ${userId}, ${before(tx.now, 0)})
    on conflict ("id") do update set "lastAt" = excluded."lastAt"`);
  await tx.run(sql`
    delete from "_LoginAddress" where "userId" = ${userId} and "id" not in (
      select "id" from "_LoginAddress" where "userId" = ${userId} order by "lastAt" desc, "id" limit ${MAX_KNOWN})`);
}

/** Deletes some addresses without a recent login. Returns true if more may be left. */
export function deleteExpiredAddresses(tx: Transaction): Promise<boolean> {
  return deleteSome(tx, '_LoginAddress', sql`"lastAt" <= ${before(tx.now, KNOWN_DAYS)}`);
}

/** Deletes the addresses of a deleted user. */
export async function deleteAddressesOf(tx: Transaction, userId: string): Promise<void> {
  await tx.run(sql`delete from "_LoginAddress" where "userId" = ${userId}`);
}

function before(now: number, days: number): string {
  return new Date(now - days * DAY).toISOString();
}

/** Hashes the address, because it is personal data. */
function toKey(userId: string, ip: string): string {
  return createHash('sha256')
    .update(`${userId} ${toCountedAddress(ip)}`)
    .digest('hex');
}
