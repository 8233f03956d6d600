import { Problem } from '../errors.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuthEndpointDeps, IssuedTokens, TokenUser } from './authentication-deps.ts';
import {
  clearAttempts,
  countAttempt,
  deleteExpiredAddresses,
  deleteExpiredAttempts,
  type LoginAttempt,
  rememberAddress,
} from './login-attempts.ts';
import { deleteExpiredSessions, type OpenSession, openSession, renewSession } from './sessions.ts';

const CLEAN_EVERY_MS = 3_600_000;

/** The credentials of a login. */
export interface LoginCredentials {
  readonly email: string;
  readonly password: string;
  /** The address of the client. */
  readonly ip: string;
}

/**
 * Creates the login, which exchanges an email and a password for an access token and a refresh token. The outcome for an unknown user, an
 * inactive user and a wrong password is the same and takes the same time. Attempts are counted before hashing.
 */
export function createLogin(deps: AuthEndpointDeps): (credentials: LoginCredentials) => Promise<IssuedTokens> {
  let cleanedAt = 0;
  const { database, passwords, options } = deps;

  return async ({ email, password, ip }) => {
    const attempt: LoginAttempt = { email: email.toLowerCase(), ip };
    const before = await database.transaction(async (tx) => {
      // The absolute difference, so that cleaning continues within an hour after the clock was set back.
      if (Math.abs(tx.now - cleanedAt) > CLEAN_EVERY_MS) {
        cleanedAt = tx.now;
        await deleteExpiredAttempts(tx, options);
        await deleteExpiredAddresses(tx);
        await deleteExpiredSessions(tx);
      }
      // Returned, not thrown: throwing would undo the count.
      const wait = await countAttempt(tx, attempt, options);
      return wait === undefined ? { user: await loadCredentials(tx, attempt.email) } : { wait };
    });
    if (before.wait !== undefined) throw new Problem('IDENTITY_THROTTLED', 'too many attempts to log in', { retryAfter: before.wait });
    const isRight = await passwords.verify(before.user?.password, password);
    if (!isRight) throw wrongCredentials();
    const { user, session, now } = await database.transaction(async (tx) => {
      // The password may have changed while it was hashed. The row lock keeps it until the commit; a later change revokes this session.
      const user = await loadCredentials(tx, attempt.email, tx.rowLock('share'));
      if (user === undefined || user.password !== before.user?.password) throw wrongCredentials();
      await clearAttempts(tx, attempt);
      await rememberAddress(tx, user.id, attempt.ip);
      return { user, session: await openSession(tx, user.id, options.refreshTokenSeconds), now: tx.now };
    });
    return issueTokens(deps, { user, session, now });
  };
}

interface Credentials extends TokenUser {
  readonly password: string;
}

/** Loads the credentials of a user who may log in: active, with a role and a password. */
async function loadCredentials(tx: Transaction, email: string, lock: Sql = sql``): Promise<Credentials | undefined> {
  return tx.one<Credentials>(sql`
    select "id", "email", "name", "role", "password" from "User"
    where "email" = ${email} and "isActive" = true and "role" is not null and "password" is not null${lock}`);
}

function wrongCredentials(): Problem {
  return new Problem('IDENTITY_CREDENTIALS', 'the email or the password is wrong');
}

/** Exchanges a refresh token for a new pair of tokens. A token works once; a second use ends the session. @throws Problem IDENTITY_TOKEN */
export async function refresh(deps: AuthEndpointDeps, refreshToken: string): Promise<IssuedTokens> {
  const result = await deps.database.transaction(async (tx) => {
    const renewed = await renewSession(tx, refreshToken, deps.options.refreshTokenSeconds);
    return renewed === undefined ? undefined : { ...renewed, now: tx.now };
  });
  // Thrown outside of the transaction, because a throw inside would undo the end of a session whose token was used twice.
  if (result === undefined)
    throw new Problem('IDENTITY_TOKEN', 'the refresh token is not valid', { hint: 'log in again with POST /auth/login' });
  return issueTokens(deps, result);
}

/** The session that a login or a refresh has opened. */
interface IssuedSession {
  readonly user: TokenUser;
  readonly session: OpenSession;
  /** Milliseconds since 1970. */
  readonly now: number;
}

async function issueTokens({ tokens, options }: AuthEndpointDeps, { user, session, now }: IssuedSession): Promise<IssuedTokens> {
  const token = await tokens.sign({ userId: user.id, sessionId: session.sessionId, role: user.role, now });
  const { id, email, name, role } = user;
  return { token, expiresIn: options.accessTokenSeconds, refreshToken: session.refreshToken, user: { id, email, name, role } };
}
