import { Problem } from '../errors.ts';
import type { HttpRequest } from '../request/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuthEvent, AuthOrigin } from './auth-entries.ts';
import type { AuthEndpointDeps, IssuedAccess, IssuedTokens, TokenUser } from './authentication-deps.ts';
import { clearAttempts, countAttempt, isRecorded, type LoginAttempt, rememberAddress, type Throttling } from './login-attempts.ts';
import { verifyCounted } from './passwords.ts';
import { RefusedAddresses } from './refused-addresses.ts';
import { renewSession, type SessionClient, type TimedSession } from './sessions.ts';
import { VerifyingAttempts } from './verifying-attempts.ts';

/** The credentials of a login. */
export interface LoginCredentials {
  readonly email: string;
  readonly password: string;
}

/** The parts of a request that opens or renews a session. */
export type SessionOrigin = AuthOrigin & SessionClient;

/** Returns these parts. */
export function toSessionOrigin({ origin, header }: Pick<HttpRequest, 'origin' | 'header'>): SessionOrigin {
  return { requestId: origin.requestId, ip: origin.ip, userAgent: header('user-agent') };
}

/**
 * Exchanges an email and a password for a session, which `open` opens in the transaction of the audit entry. The outcome for an unknown
 * user, an inactive user and a wrong password is the same and takes the same time: each has one audit entry, in a transaction of its own.
 * Attempts are counted before hashing.
 *
 * @throws Problem IDENTITY_CREDENTIALS, IDENTITY_THROTTLED
 */
export type OpenByPassword = <S extends TimedSession>(
  credentials: LoginCredentials,
  origin: SessionOrigin,
  open: (tx: Transaction, userId: string) => Promise<S>,
) => Promise<IssuedSession<S>>;

/** Creates the function that logs in. All kinds of sessions share it, and so its limits. */
export function createLogin(deps: AuthEndpointDeps): OpenByPassword {
  const { database, entries } = deps;
  const verifying = new VerifyingAttempts();
  const admit = createAdmission(deps, verifying);

  return async ({ email, password }, origin, open) => {
    const attempt: LoginAttempt = { account: email.toLowerCase(), ip: origin.ip };
    const event = { action: 'login', origin, email } as const;
    try {
      const before = await admit(attempt, event);
      const isRight = await verifyCounted(deps, attempt, { hashed: before?.password, plain: password });
      const opened = await database.transaction(async (tx) => {
        // The password may have changed while it was hashed. The row lock keeps it until the commit; a later change revokes this session.
        const user = isRight ? await loadCredentials(tx, attempt.account, tx.rowLock('share')) : undefined;
        if (user === undefined || user.password !== before?.password) {
          const refusal = { ...event, userId: before?.id, reason: before === undefined ? UNKNOWN_USER : WRONG_PASSWORD };
          return { refused: await entries.appendRefusal(tx, refusal, wrongCredentials()) };
        }
        await clearAttempts(tx, attempt);
        await rememberAddress(tx, user.id, attempt.ip);
        const session = await open(tx, user.id);
        await entries.append(tx, { ...event, reason: 'logged in', userId: user.id, role: user.role, sessionId: session.sessionId });
        return { user, session, now: tx.now };
      });
      if ('refused' in opened) throw opened.refused;
      return opened;
    } finally {
      verifying.delete(attempt);
    }
  };
}

type Admit = (attempt: LoginAttempt, event: Omit<AuthEvent, 'reason'>) => Promise<Credentials | undefined>;

/**
 * Creates the function that counts an attempt and returns the credentials of its account; undefined if no user may log in with the email. Adds the
 * attempt to `verifying`, from which the caller deletes it. An attempt that is refused while others of the account from the address are verified
 * may be sent again after a second.
 *
 * @throws Problem IDENTITY_THROTTLED
 */
function createAdmission({ database, options, entries, deleteExpired }: AuthEndpointDeps, verifying: VerifyingAttempts): Admit {
  const refused = new RefusedAddresses();

  /** Records the refusal of an attempt, if it is one of those that have an entry. */
  async function refuse(tx: Transaction, event: Omit<AuthEvent, 'reason'>, throttling: Throttling): Promise<Problem> {
    const { problem, reason } = toThrottled(throttling);
    return isRecorded(throttling) ? entries.appendRefusal(tx, { ...event, reason }, problem) : problem;
  }

  return async (attempt, event) => {
    const repeated = refused.refuse(attempt.ip);
    if (repeated !== undefined)
      throw isRecorded(repeated) ? await database.transaction((tx) => refuse(tx, event, repeated)) : toThrottled(repeated).problem;
    const counted = { ...attempt, uncounted: refused.takeUncounted(attempt.ip) };
    const { user, throttling, problem } = await database.transaction(async (tx) => {
      await deleteExpired(tx);
      // An earlier run of this transaction may have added it.
      verifying.delete(attempt);
      const refusal = await countAttempt(tx, counted, options);
      if (refusal === undefined) {
        verifying.add(attempt);
        return { user: await loadCredentials(tx, attempt.account) };
      }
      const throttling = refusal.isPairRefused && verifying.has(attempt) ? { ...refusal, retryAfter: 1 } : refusal;
      // Returned, not thrown: throwing would undo the count and the entry.
      return { throttling, problem: await refuse(tx, event, throttling) };
    });
    refused.note(attempt.ip, throttling);
    if (problem !== undefined) throw problem;
    return user;
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
export async function refresh({ entries, ...deps }: AuthEndpointDeps, refreshToken: string, origin: SessionOrigin): Promise<IssuedTokens> {
  const event = { action: 'refresh', origin } as const;
  const result = await deps.database.transaction(async (tx) => {
    const renewed = await renewSession(tx, refreshToken, { client: origin, seconds: deps.options.refreshTokenSeconds });
    if (renewed === undefined) return undefined;
    if ('ended' in renewed) {
      const { id: sessionId, userId } = renewed.ended;
      // Returned, not thrown: throwing would undo the end of the session.
      return { refused: await entries.appendRefusal(tx, { ...event, reason: USED_TWICE, userId, sessionId }, invalidRefreshToken()) };
    }
    const { user, session } = renewed;
    await deps.deleteExpired(tx);
    await entries.append(tx, { ...event, reason: 'refreshed', userId: user.id, role: user.role, sessionId: session.sessionId });
    return { user, session, now: tx.now };
  });
  if (result === undefined) {
    const problem = invalidRefreshToken();
    throw await entries.recordRefusal({ ...event, reason: problem.detail }, problem);
  }
  if ('refused' in result) throw result.refused;
  return { ...(await issueAccess(deps, result)), refreshToken: result.session.refreshToken };
}

const USED_TWICE = 'the refresh token was used twice, so its session was ended';

function invalidRefreshToken(): Problem {
  return new Problem('IDENTITY_TOKEN', 'the refresh token is not valid', { hint: 'log in again with POST /auth/login' });
}

/** The session that a login or a refresh has opened, and its user. */
export interface IssuedSession<S extends TimedSession = TimedSession> {
  readonly user: TokenUser;
  readonly session: S;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Signs an access token, which expires with the session at the latest. */
export async function issueAccess(
  { tokens, options }: Pick<AuthEndpointDeps, 'tokens' | 'options'>,
  { user, session: { sessionId, expiresAt }, now }: IssuedSession,
): Promise<IssuedAccess> {
  const { id, email, name, role } = user;
  const seconds = Math.min(options.accessTokenSeconds, Math.floor((expiresAt - now) / 1000));
  const token = await tokens.sign({ userId: id, sessionId, role, now, seconds });
  return { token, expiresIn: seconds, user: { id, email, name, role } };
}
