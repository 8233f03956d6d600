import { Problem } from '../errors.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuthOrigin } from './auth-entries.ts';
import type { AuthEndpointDeps, IssuedTokens, TokenUser } from './authentication-deps.ts';
import {
  clearAttempts,
  countAttempt,
  deleteExpiredAddresses,
  deleteExpiredAttempts,
  isRecorded,
  type LoginAttempt,
  rememberAddress,
  type Throttling,
} from './login-attempts.ts';
import { deleteExpiredSessions, type OpenSession, openSession, renewSession } from './sessions.ts';

const CLEAN_EVERY_MS = 3_600_000;

/** The credentials of a login. */
export interface LoginCredentials {
  readonly email: string;
  readonly password: string;
}

/** Exchanges an email and a password for tokens. */
export type LogIn = (credentials: LoginCredentials, origin: AuthOrigin) => Promise<IssuedTokens>;

/**
 * Creates the login, which exchanges an email and a password for an access token and a refresh token. The outcome for an unknown user, an
 * inactive user and a wrong password is the same and takes the same time: each has one audit entry, in a transaction of its own. Attempts
 * are counted before hashing.
 */
export function createLogin(deps: AuthEndpointDeps): LogIn {
  let cleanedAt = 0;
  const { database, passwords, options, entries } = deps;

  return async ({ email, password }, origin) => {
    const attempt: LoginAttempt = { email: email.toLowerCase(), ip: origin.ip };
    const event = { action: 'login', origin, email } as const;
    const before = await database.transaction(async (tx) => {
      // The absolute difference, so that cleaning continues within an hour after the clock was set back.
      if (Math.abs(tx.now - cleanedAt) > CLEAN_EVERY_MS) {
        cleanedAt = tx.now;
        await deleteExpiredAttempts(tx, options);
        await deleteExpiredAddresses(tx);
        await deleteExpiredSessions(tx);
      }
      const throttling = await countAttempt(tx, attempt, options);
      if (throttling === undefined) return { user: await loadCredentials(tx, attempt.email) };
      // Returned, not thrown: throwing would undo the count and the entry.
      const { problem, reason } = toThrottled(throttling);
      return { refused: isRecorded(throttling) ? await entries.appendRefusal(tx, { ...event, reason }, problem) : problem };
    });
    if ('refused' in before) throw before.refused;
    const isRight = await passwords.verify(before.user?.password, password);
    const opened = await database.transaction(async (tx) => {
      // The password may have changed while it was hashed. The row lock keeps it until the commit; a later change revokes this session.
      const user = isRight ? await loadCredentials(tx, attempt.email, tx.rowLock('share')) : undefined;
      if (user === undefined || user.password !== before.user?.password) {
        const refusal = { ...event, userId: before.user?.id, reason: before.user === undefined ? UNKNOWN_USER : WRONG_PASSWORD };
        return { refused: await entries.appendRefusal(tx, refusal, wrongCredentials()) };
      }
      await clearAttempts(tx, attempt);
      await rememberAddress(tx, user.id, attempt.ip);
      const session = await openSession(tx, user.id, options.refreshTokenSeconds);
      await entries.append(tx, { ...event, reason: 'logged in', userId: user.id, role: user.role, sessionId: session.sessionId });
      return { user, session, now: tx.now };
    });
    if ('refused' in opened) throw opened.refused;
    return issueTokens(deps, opened);
  };
}

/** The reasons of refused logins in audit entries. The client receives the same problem for all of them. */
const UNKNOWN_USER = 'no active user with a password has this email';
const WRONG_PASSWORD = 'the password is wrong';

function toThrottled({ retryAfter, refusals }: Throttling): { readonly problem: Problem; readonly reason: string } {
  const detail = 'too many attempts to log in';
  return { problem: new Problem('IDENTITY_THROTTLED', detail, { retryAfter }), reason: `${detail}: ${refusals} refused in this window` };
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
export async function refresh({ entries, ...deps }: AuthEndpointDeps, refreshToken: string, origin: AuthOrigin): Promise<IssuedTokens> {
  const event = { action: 'refresh', origin } as const;
  const result = await deps.database.transaction(async (tx) => {
    const renewed = await renewSession(tx, refreshToken, deps.options.refreshTokenSeconds);
    if (renewed === undefined) return undefined;
    if ('ended' in renewed) {
      const { id: sessionId, userId } = renewed.ended;
      // Returned, not thrown: throwing would undo the end of the session.
      return { refused: await entries.appendRefusal(tx, { ...event, reason: USED_TWICE, userId, sessionId }, invalidRefreshToken()) };
    }
    const { user, session } = renewed;
    await entries.append(tx, { ...event, reason: 'refreshed', userId: user.id, role: user.role, sessionId: session.sessionId });
    return { user, session, now: tx.now };
  });
  if (result === undefined) {
    const problem = invalidRefreshToken();
    throw await entries.recordRefusal({ ...event, reason: problem.detail }, problem);
  }
  if ('refused' in result) throw result.refused;
  return issueTokens(deps, result);
}

const USED_TWICE = 'the refresh token was used twice, so its session was ended';

function invalidRefreshToken(): Problem {
  return new Problem('IDENTITY_TOKEN', 'the refresh token is not valid', { hint: 'log in again with POST /auth/login' });
}

/** The session that a login or a refresh has opened. */
interface IssuedSession {
  readonly user: TokenUser;
  readonly session: OpenSession;
  /** Milliseconds since 1970. */
  readonly now: number;
}

async function issueTokens(
  { tokens, options }: Pick<AuthEndpointDeps, 'tokens' | 'options'>,
  { user, session, now }: IssuedSession,
): Promise<IssuedTokens> {
  const token = await tokens.sign({ userId: user.id, sessionId: session.sessionId, role: user.role, now });
  const { id, email, name, role } = user;
  return { token, expiresIn: options.accessTokenSeconds, refreshToken: session.refreshToken, user: { id, email, name, role } };
}
