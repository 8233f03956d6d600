import { createHash } from 'node:crypto';
import { type Sql, sql } from '../sql.ts';
import { CLOCK_LEEWAY_SECONDS, type Transaction } from '../storage/index.ts';

/** The bounds on logins. */
export interface AttemptSettings {
  /** Per account, address and window. */
  readonly loginAttempts: number;
  readonly loginAttemptsPerAddress: number;
  readonly loginWindowSeconds: number;
  /** Per account in a longer window, from all addresses together that the account has not logged in from. */
  readonly loginAttemptsPerAccount: number;
  readonly loginAccountWindowSeconds: number;
}

/** A login that is tried for an account, which need not exist, from an address. */
export interface Attempt {
  readonly email: string;
  readonly ip: string;
}

/**
 * Counts an attempt in the database, so that the counts apply to all replicas. Returns the seconds to wait if there were too many
 * attempts already; undefined if the attempt may proceed.
 *
 * Counts for the account and the address together, and for the address: so wrong passwords from one address lock that address out,
 * and no other. An attempt within both bounds also counts for the account alone, unless the account has logged in from the address
 * recently. A refused attempt does not count there: one address could otherwise use up the account's bound for all.
 */
export async function countAttempt(tx: Transaction, attempt: Attempt, settings: AttemptSettings): Promise<number | undefined> {
  const seconds = settings.loginWindowSeconds;
  const waits = [
    await countOne(tx, pairKey(attempt), { most: settings.loginAttempts, seconds }),
    await countOne(tx, addressKey(attempt), { most: settings.loginAttemptsPerAddress, seconds }),
  ];
  if (!waits.some((wait) => wait > 0) && !(await isKnownAddress(tx, attempt))) {
    const { loginAttemptsPerAccount: most, loginAccountWindowSeconds } = settings;
    waits.push(await countOne(tx, accountKey(attempt), { most, seconds: loginAccountWindowSeconds }));
  }
  const wait = Math.max(...waits);
  return wait > 0 ? wait : undefined;
}

/**
 * Forgets the attempts of an account from an address after a login that worked. Address and account get back only this attempt: with
 * more, an attacker's own account would buy attempts on others, and the bound of an account would tell whether its owner logs in.
 */
export async function forgetAttempts(tx: Transaction, attempt: Attempt): Promise<void> {
  const counted = (await isKnownAddress(tx, attempt)) ? [addressKey(attempt)] : [addressKey(attempt), accountKey(attempt)];
  await tx.run(sql`delete from "_LoginAttempt" where "id" = ${pairKey(attempt)}`);
  for (const id of counted) await tx.run(sql`update "_LoginAttempt" set "count" = "count" - 1 where "id" = ${id} and "count" > 0`);
}

/** Lifts the bound of an account, for an operator who has proved by other means who its owner is. */
export async function liftAccountBound(tx: Transaction, email: string): Promise<void> {
  await tx.run(sql`delete from "_LoginAttempt" where "id" = ${accountKey({ email, ip: '' })}`);
}

/** Removes counts whose window is over. */
export async function sweepAttempts(tx: Transaction, settings: AttemptSettings): Promise<void> {
  const seconds = Math.max(settings.loginWindowSeconds, settings.loginAccountWindowSeconds);
  await tx.run(sql`delete from "_LoginAttempt" where ${isOver(tx.now, seconds)}`);
}

/** Counts a wrong set-up token, by its address alone. Returns the seconds to wait where there were too many, else undefined. */
export async function countSetupAttempt(tx: Transaction, ip: string, settings: AttemptSettings): Promise<number | undefined> {
  const id = digest(`setup ${toCountedAddress(ip)}`);
  const wait = await countOne(tx, id, { most: settings.loginAttempts, seconds: settings.loginWindowSeconds });
  return wait > 0 ? wait : undefined;
}

interface Limit {
  readonly most: number;
  readonly seconds: number;
}

/** Counts and reads in one statement: of many at once, each sees the ones before it. */
async function countOne(tx: Transaction, id: string, { most, seconds }: Limit): Promise<number> {
  const now = new Date(tx.now).toISOString();
  const over = isOver(tx.now, seconds);
  const row = await tx.one<{ count: number; windowStart: string }>(sql`
    insert into "_LoginAttempt" ("id", "windowStart", "count") values (${id}, ${now}, 1)
    on conflict ("id") do update set
      "count" = case when ${over} then 1 else "_LoginAttempt"."count" + 1 end,
      "windowStart" = case when ${over} then excluded."windowStart" else "_LoginAttempt"."windowStart" end
    returning "count", "windowStart"`);
  if (row === undefined || row.count <= most) return 0;
  return Math.max(1, Math.ceil((Date.parse(row.windowStart) - tx.now) / 1000 + seconds));
}

/** Returns whether a window has ended. A window that begins in the future has ended too: the clock was set back since. */
function isOver(now: number, seconds: number): Sql {
  const at = (offset: number): string => new Date(now + offset * 1000).toISOString();
  return sql`("_LoginAttempt"."windowStart" <= ${at(-seconds)} or "_LoginAttempt"."windowStart" > ${at(CLOCK_LEEWAY_SECONDS)})`;
}

function pairKey({ email, ip }: Attempt): string {
  return digest(`pair ${toCountedAddress(ip)} ${email}`);
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

/**
 * Who is counted as one address. An IPv6 host is given a whole /64 to pick from, so the /64 is counted;
 * an IPv4 address written as IPv6 is the same address.
 */
export function toCountedAddress(ip: string): string {
  const [address = ''] = ip.toLowerCase().split('%');
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = address.split('::', 2);
  const [first, last] = [toGroups(head), toGroups(tail ?? '')];
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`;
}

function toGroups(part: string): string[] {
  return part === '' ? [] : part.split(':').map((group) => group.replace(/^0+(?=.)/, ''));
}
