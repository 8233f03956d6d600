import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { hash, verify } from '@node-rs/argon2';
import type * as Library from '@zxcvbn-ts/language-common';
import { type Issue, Problem } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import { sql } from '../sql.ts';
import type { Database, Transaction } from '../storage/index.ts';
import { clearAttempts, countAttempt, type LoginAttempt, type LoginLimits, subtractAttempt } from './login-attempts.ts';

/** The costs of a hash with argon2id, the library's default algorithm. Lower costs make a stolen hash easier to guess. */
export interface HashCosts {
  /** In KiB. */
  readonly memoryCost: number;
  /** Number of passes over the memory. */
  readonly timeCost: number;
  readonly parallelism: number;
}

const DEFAULT_COSTS: HashCosts = Object.freeze({ memoryCost: 19_456, timeCost: 2, parallelism: 1 });

/** Maximum number of waiting passwords per password that is being hashed. */
const MAX_WAITING = 64;

/** Hashes and verifies passwords. Limits the number of concurrent hashes, because each takes 19 MiB and tens of milliseconds. */
export interface Passwords {
  /** Hashes a password. @throws Problem STORAGE_BUSY if too many passwords wait. */
  hash(plain: string): Promise<string>;
  /**
   * Returns true if the password has the given hash. For an unknown user (`hashed` is undefined), returns false after the same time.
   *
   * @throws Problem STORAGE_BUSY if too many passwords wait.
   */
  verify(hashed: string | undefined, plain: string): Promise<boolean>;
}

/** Creates the password functions, which hash at most `concurrency` passwords at a time in this process. */
export function createPasswords(concurrency: number, costs: HashCosts = DEFAULT_COSTS): Passwords {
  const withLimit = createConcurrencyLimit(concurrency);
  const unknownUserHash = createUnknownUserHash(costs);
  return {
    hash: (plain) => withLimit(() => hash(plain, { ...costs })),
    verify: (hashed, plain) => withLimit(() => verify(hashed ?? unknownUserHash, plain)),
  };
}

/** Creates a hash with these costs, for unknown users. No password has this hash, because its digest is random. */
function createUnknownUserHash({ memoryCost, timeCost, parallelism }: HashCosts): string {
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${unpadded(16)}$${unpadded(32)}`;
}

function unpadded(bytes: number): string {
  return randomBytes(bytes).toString('base64').replaceAll('=', '');
}

type WithLimit = <T>(work: () => Promise<T>) => Promise<T>;

function createConcurrencyLimit(concurrency: number): WithLimit {
  const waiting: (() => void)[] = [];
  let free = concurrency;

  return async (work) => {
    if (free > 0) free--;
    else if (waiting.length < concurrency * MAX_WAITING) await new Promise<void>((resolve) => waiting.push(resolve));
    else throw new Problem('STORAGE_BUSY', 'too many passwords are being hashed at the moment', { retryAfter: 1 });
    try {
      return await work();
    } finally {
      // The slot is passed to the next waiting password instead of freed, so that a later password cannot overtake it.
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

let loaded: ReadonlySet<string> | undefined;

/** Returns an issue if the password in a user's values is their name, their email or a common password. Does not check its length. */
export function findGuessablePassword({ password, email, name }: JsonObject): readonly Issue[] {
  if (typeof password !== 'string') return [];
  const given = toComparable(password);
  const own = [email, name].filter((text) => typeof text === 'string').map(toComparable);
  if (own.some((text) => given === text || given === text.split('@')[0]))
    return [{ path: 'password', code: 'guessable', detail: 'expected a password other than the name or the email of the user' }];
  if (!commonPasswords().has(given)) return [];
  return [{ path: 'password', code: 'common', detail: 'expected a password that is not one of the most common ones' }];
}

/** Returns the most common passwords in lower case. Loads them on first use, because most processes never set a password. */
function commonPasswords(): ReadonlySet<string> {
  if (loaded === undefined) {
    const { dictionary } = createRequire(import.meta.url)('@zxcvbn-ts/language-common') as typeof Library;
    loaded = new Set<string>(dictionary['passwords-common']);
  }
  return loaded;
}

function toComparable(text: string): string {
  return text.trim().toLowerCase();
}

/** A user's claim to know their current password. */
export interface PasswordClaim {
  readonly userId: string;
  readonly plain: string;
}

/** The result of verifying a claim: the matching hash, or the problem to refuse with. */
export type PasswordProof = { readonly hash: string } | { readonly refused: Problem };

interface ProofDeps {
  readonly database: Database;
  readonly passwords: Passwords;
  readonly options: LoginLimits;
}

/**
 * Verifies a claim outside of a transaction. Limits claims like logins, so that the holder of a stolen token cannot guess the password. They are
 * counted under the id of the user, because the holder may be allowed to change the email.
 */
export async function provePassword(
  { database, passwords, options }: ProofDeps,
  { userId, plain }: PasswordClaim,
  ip: string,
): Promise<PasswordProof> {
  const attempt = { account: userId, ip };
  const { password, throttling } = await database.transaction(async (tx) => {
    return { password: await loadPassword(tx, userId), throttling: await countAttempt(tx, attempt, options) };
  });
  if (throttling !== undefined) {
    const { retryAfter } = throttling;
    return { refused: new Problem('IDENTITY_THROTTLED', 'too many attempts with a wrong current password', { retryAfter }) };
  }
  const isRight = await verifyCounted({ database, passwords }, attempt, { hashed: password, plain });
  if (!isRight || password === undefined) return { refused: wrongPassword() };
  await database.transaction((tx) => clearAttempts(tx, attempt));
  return { hash: password };
}

/** A password, and the hash that it may have. */
interface PasswordToVerify {
  readonly hashed: string | undefined;
  readonly plain: string;
}

/** Verifies the password of an attempt that was counted. Subtracts the attempt if too many passwords wait: the client then sends it again. */
export async function verifyCounted(
  { database, passwords }: Pick<ProofDeps, 'database' | 'passwords'>,
  attempt: LoginAttempt,
  { hashed, plain }: PasswordToVerify,
): Promise<boolean> {
  try {
    return await passwords.verify(hashed, plain);
  } catch (error) {
    if (error instanceof Problem && error.code === 'STORAGE_BUSY') await database.transaction((tx) => subtractAttempt(tx, attempt));
    throw error;
  }
}

/**
 * Refuses a failed proof, and a proof of a password that has changed since it was verified.
 *
 * @throws Problem IDENTITY_CURRENT_PASSWORD, IDENTITY_THROTTLED
 */
export async function validatePasswordProof(tx: Transaction, userId: string, proof: PasswordProof): Promise<void> {
  if ('refused' in proof) throw proof.refused;
  if ((await loadPassword(tx, userId)) !== proof.hash) throw wrongPassword();
}

/** Returns the hash of the password of a user; undefined if there is none. */
async function loadPassword(tx: Transaction, userId: string): Promise<string | undefined> {
  const user = await tx.one<{ password: string | null }>(sql`select "password" from "User" where "id" = ${userId}`);
  return user?.password ?? undefined;
}

function wrongPassword(): Problem {
  return new Problem('IDENTITY_CURRENT_PASSWORD', 'currentPassword is not the password of the user');
}
