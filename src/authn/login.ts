import { Problem } from '../errors.ts';
import type { HttpRequest, HttpResponse } from '../request/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuthEndpointDeps, TokenUser } from './authentication-deps.ts';
import { parseTexts } from './credentials.ts';
import {
  clearAttempts,
  countAttempt,
  deleteExpiredAddresses,
  deleteExpiredAttempts,
  type LoginAttempt,
  rememberAddress,
} from './login-attempts.ts';
import { deleteExpiredSessions, type OpenSession, openSession, renewSession } from './sessions.ts';

const LOGIN_BODY = { email: { min: 1, max: 254 }, password: { min: 1, max: 200 } } as const;
const CLEAN_EVERY_MS = 3_600_000;

/**
 * Creates `POST /auth/login`, which exchanges an email and a password for an access token and a refresh token. The response to an unknown
 * user, an inactive user and a wrong password is the same and takes the same time. Attempts are counted before hashing.
 */
export function createLogin(deps: AuthEndpointDeps): (request: HttpRequest) => Promise<HttpResponse> {
  let cleanedAt = 0;
  const { database, passwords, options } = deps;

  return async (request) => {
    const { email, password } = parseTexts(request.body, LOGIN_BODY);
    const attempt: LoginAttempt = { email: email.toLowerCase(), ip: request.origin.ip };
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
    return toTokenResponse(deps, { user, session, now, message: 'logged in' });
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

const REFRESH_BODY = { refreshToken: { min: 1, max: 200 } } as const;

/** `POST /auth/refresh`: exchanges a refresh token for a new pair of tokens. A token works once; a second use ends the session. */
export async function refresh(deps: AuthEndpointDeps, request: HttpRequest): Promise<HttpResponse> {
  const { refreshToken } = parseTexts(request.body, REFRESH_BODY);
  const result = await deps.database.transaction(async (tx) => {
    const renewed = await renewSession(tx, refreshToken, deps.options.refreshTokenSeconds);
    return renewed === undefined ? undefined : { ...renewed, now: tx.now };
  });
  // Thrown outside of the transaction, because a throw inside would undo the end of a session whose token was used twice.
  if (result === undefined)
    throw new Problem('IDENTITY_TOKEN', 'the refresh token is not valid', { hint: 'log in again with POST /auth/login' });
  return toTokenResponse(deps, { ...result, message: 'refreshed' });
}

/** The result of a login or a refresh. */
interface IssuedSession {
  readonly user: TokenUser;
  readonly session: OpenSession;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly message: string;
}

/** Renders the response with the tokens of a session. The refresh token is not stored, so no other response can contain it. */
async function toTokenResponse(
  { tokens, options }: AuthEndpointDeps,
  { user, session, now, message }: IssuedSession,
): Promise<HttpResponse> {
  const token = await tokens.sign({ userId: user.id, sessionId: session.sessionId, role: user.role, now });
  const { id, email, name, role } = user;
  const body = {
    success: true,
    message,
    token,
    tokenType: 'Bearer',
    expiresIn: options.accessTokenSeconds,
    refreshToken: session.refreshToken,
    user: { id, email, name, role },
  };
  return { status: 200, headers: { 'cache-control': 'no-store' }, body };
}
