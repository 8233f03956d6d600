import { Problem } from '../errors.ts';
import { sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuthenticationDeps } from './authentication-deps.ts';
import { countAttempt, forgetAttempts } from './login-attempts.ts';

/** A user's claim to know their current password. */
export interface PasswordClaim {
  readonly userId: string;
  readonly plain: string;
}

/** The result of verifying a claim: the matching hash, or the reason of the refusal. */
export type PasswordProof = { readonly hash: string } | { readonly refused: Problem };

type ProofParts = Pick<AuthenticationDeps, 'database' | 'passwords' | 'settings'>;

/**
 * Verifies a claim outside of any transaction and counts it like a login of that user from that address: the holder of a stolen token must
 * not be able to guess the password.
 */
export async function provePassword(
  { database, passwords, settings }: ProofParts,
  { userId, plain }: PasswordClaim,
  ip: string,
): Promise<PasswordProof> {
  const { user, attempt, wait } = await database.transaction(async (tx) => {
    const user = await loadUser(tx, userId);
    const attempt = { email: user?.email ?? userId, ip };
    return { user, attempt, wait: await countAttempt(tx, attempt, settings) };
  });
  if (wait !== undefined)
    return { refused: new Problem('IDENTITY_THROTTLED', 'too many attempts with a wrong current password', { retryAfter: wait }) };
  const isRight = await passwords.verify(user?.password ?? undefined, plain);
  if (!isRight || typeof user?.password !== 'string') return { refused: wrongPassword() };
  await database.transaction((tx) => forgetAttempts(tx, attempt));
  return { hash: user.password };
}

/**
 * Refuses a failed proof, and a proof of a password that has changed since it was verified.
 *
 * @throws Problem IDENTITY_CURRENT_PASSWORD, IDENTITY_THROTTLED
 */
export async function checkProof(tx: Transaction, userId: string, proof: PasswordProof): Promise<void> {
  if ('refused' in proof) throw proof.refused;
  if ((await loadUser(tx, userId))?.password !== proof.hash) throw wrongPassword();
}

interface StoredUser {
  readonly email: string;
  readonly password: string | null;
}

async function loadUser(tx: Transaction, userId: string): Promise<StoredUser | undefined> {
  return tx.one<StoredUser>(sql`select "email", "password" from "User" where "id" = ${userId}`);
}

function wrongPassword(): Problem {
  return new Problem('IDENTITY_CURRENT_PASSWORD', 'currentPassword is not the password of the user');
}
