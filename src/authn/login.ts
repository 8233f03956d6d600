import { Problem } from '../errors.ts';
import type { HttpRequest, HttpResponse } from '../request/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuthenticationDeps, ShownUser } from './authentication-deps.ts';
import { parseTexts } from './credentials.ts';
import { type Attempt, countAttempt, forgetAttempts, rememberAddress, sweepAddresses, sweepAttempts } from './login-attempts.ts';
import { type OpenSession, openSession, renewSession, sweepSessions } from './sessions.ts';

const LOGIN_BODY = { email: { min: 1, max: 254 }, password: { min: 1, max: 200 } } as const;
const SWEEP_EVERY = 3_600_000;

/**
 * `POST /auth/login`: email and password for an access and a refresh token. Whether the user is unknown, inactive or the password
 * wrong, the answer is the same and costs the same. Attempts are counted before anything is hashed.
 */
export function createLogin(parts: AuthenticationDeps): (call: HttpRequest) => Promise<HttpResponse> {
  let swept = 0;
  const { database, passwords, settings } = parts;

  return async (call) => {
    const { email, password } = parseTexts(call.body, LOGIN_BODY);
    const attempt: Attempt = { email: email.toLowerCase(), ip: call.origin.ip };
    const before = await database.transaction(async (tx) => {
      // Compares the distance in both directions, so that cleaning continues within an hour after the clock was set back.
      if (Math.abs(tx.now - swept) > SWEEP_EVERY) {
        swept = tx.now;
        await sweepAttempts(tx, settings);
        await sweepAddresses(tx);
        await sweepSessions(tx);
      }
      // Returned, not thrown: throwing would undo the count.
      const wait = await countAttempt(tx, attempt, settings);
      return wait === undefined ? { user: await loadCredentials(tx, attempt.email) } : { wait };
    });
    if (before.wait !== undefined) throw new Problem('IDENTITY_THROTTLED', 'too many attempts to log in', { retryAfter: before.wait });
    const isRight = await passwords.verify(before.user?.password, password);
    if (!isRight) throw wrong();
    const { user, session, now } = await database.transaction(async (tx) => {
      // Hashing took its time: the password may be another by now. From here on it stays: whoever changes it ends this session with the others.
      const user = await loadCredentials(tx, attempt.email, tx.rowLock('keep'));
      if (user === undefined || user.password !== before.user?.password) throw wrong();
      await forgetAttempts(tx, attempt);
      await rememberAddress(tx, user.id, attempt.ip);
      return { user, session: await openSession(tx, user.id, settings.refreshTokenSeconds), now: tx.now };
    });
    return answerWithTokens(parts, { user, session, now, message: 'logged in' });
  };
}

interface Credentials extends ShownUser {
  readonly password: string;
}

/** Of a user who may log in: active, with a role and a password. */
async function loadCredentials(tx: Transaction, email: string, held: Sql = sql``): Promise<Credentials | undefined> {
  return tx.one<Credentials>(sql`
    select "id", "email", "name", "role", "password" from "User"
    where "email" = ${email} and "isActive" = true and "role" is not null and "password" is not null${held}`);
}

function wrong(): Problem {
  return new Problem('IDENTITY_CREDENTIALS', 'the email or the password is wrong');
}

const REFRESH_BODY = { refreshToken: { min: 1, max: 200 } } as const;

/** `POST /auth/refresh`: a refresh token for a new pair. Each works once; whoever sends one again ends the session for all who hold it. */
export async function refresh(parts: AuthenticationDeps, call: HttpRequest): Promise<HttpResponse> {
  const { refreshToken } = parseTexts(call.body, REFRESH_BODY);
  const renewed = await parts.database.transaction(async (tx) => {
    const found = await renewSession(tx, refreshToken, parts.settings.refreshTokenSeconds);
    return found === undefined ? undefined : { ...found, now: tx.now };
  });
  // Outside the transaction: thrown inside, it would undo the end of a session whose token was used twice.
  if (renewed === undefined)
    throw new Problem('IDENTITY_TOKEN', 'the refresh token is not valid', { hint: 'log in again with POST /auth/login' });
  return answerWithTokens(parts, { ...renewed, message: 'refreshed' });
}

/** What a login or a refresh came to. */
interface Issue {
  readonly user: ShownUser;
  readonly session: OpenSession;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly message: string;
}

/** The answer that carries a session's tokens, the only time they are seen. */
export async function answerWithTokens(
  { tokens, settings }: AuthenticationDeps,
  { user, session, now, message }: Issue,
): Promise<HttpResponse> {
  const token = await tokens.sign({ userId: user.id, sessionId: session.sessionId, role: user.role, now });
  const { id, email, name, role } = user;
  const body = {
    success: true,
    message,
    token,
    tokenType: 'Bearer',
    expiresIn: settings.accessTokenSeconds,
    refreshToken: session.refreshToken,
    user: { id, email, name, role },
  };
  return { status: 200, headers: { 'cache-control': 'no-store' }, body };
}
