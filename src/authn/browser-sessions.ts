/**
 * Browser sessions. The cookie is read here and nowhere else, so it authenticates no request but those to `/auth/session`. It is not rotated:
 * the tabs of a browser share it, and two of them may refresh at the same time.
 */
import { Problem } from '../errors.ts';
import type { HttpRequest } from '../request/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuthAction, AuthOrigin } from './auth-entries.ts';
import type { AuthEndpointDeps, AuthenticationOptions, IssuedAccess, TokenUser } from './authentication-deps.ts';
import { type IssuedSession, issueAccess, type LoginCredentials, type OpenByPassword, toSessionOrigin } from './login.ts';
import { isPlainHttpPage, isSameOrigin } from './same-origin.ts';
import { findCookieName, loadCookieName, readCookie, toSetCookie } from './session-cookie.ts';
import {
  createSessionSecret,
  extendSession,
  insertSession,
  revokeSession,
  type SessionClient,
  type TimedSession,
  toTokenHash,
} from './sessions.ts';

/** The parts of a request that browser sessions read. */
export type BrowserRequest = Pick<HttpRequest, 'origin' | 'header'>;

/** The access token of a new browser session, and the header that sets its cookie. */
export interface BrowserLogin extends IssuedAccess {
  readonly setCookie: string;
}

/** Opens, renews and ends browser sessions. Every request must come from a page of this service. */
export interface BrowserSessions {
  /** Logs in by email and password. @throws Problem IDENTITY_ORIGIN, IDENTITY_CREDENTIALS, IDENTITY_THROTTLED */
  logIn(credentials: LoginCredentials, request: BrowserRequest): Promise<BrowserLogin>;
  /** Returns a new access token for the cookie. @throws Problem IDENTITY_ORIGIN, IDENTITY_REQUIRED, IDENTITY_TOKEN */
  refresh(request: BrowserRequest): Promise<IssuedAccess>;
  /** Ends the session of the cookie, if there is one. Returns the header that deletes the cookie; undefined if none was set. @throws Problem IDENTITY_ORIGIN */
  logOut(request: BrowserRequest): Promise<string | undefined>;
}

/** Creates the operations of browser sessions. */
export function createBrowserSessions(deps: AuthEndpointDeps, openByPassword: OpenByPassword): BrowserSessions {
  const { database, options } = deps;
  return {
    async logIn(credentials, request) {
      await requireSameOrigin(deps, request, 'login');
      const origin = toSessionOrigin(request);
      const issued = await openByPassword(credentials, origin, async (tx, userId) => {
        const name = await loadCookieName(tx);
        // The new cookie overwrites that of an earlier session, which its user could not log out of any more.
        await endSession(tx, deps, { cookie: readCookie(request, name), origin, reason: 'replaced by a new login' });
        const value = createSessionSecret();
        const seconds = Math.min(options.sessionIdleSeconds, options.sessionMaxSeconds);
        const session = await insertSession(tx, { userId, client: origin, seconds }, toTokenHash(value));
        return { ...session, setCookie: toSetCookie(name, { value, seconds: options.sessionMaxSeconds }) };
      });
      return { ...(await issueAccess(deps, issued)), setCookie: issued.session.setCookie };
    },
    async refresh(request) {
      await requireSameOrigin(deps, request, 'refresh');
      return refreshByCookie(deps, request);
    },
    async logOut(request) {
      await requireSameOrigin(deps, request, 'logout');
      return database.transaction(async (tx) => {
        const name = await findCookieName(tx);
        if (name === undefined) return undefined;
        await endSession(tx, deps, { cookie: readCookie(request, name), origin: request.origin, reason: 'logged out' });
        return toSetCookie(name, { value: '', seconds: 0 });
      });
    },
  };
}

/** Refuses a request that no page of this service has sent. @throws Problem IDENTITY_ORIGIN */
async function requireSameOrigin({ entries }: AuthEndpointDeps, request: BrowserRequest, action: AuthAction): Promise<void> {
  if (isSameOrigin(request)) return;
  const problem = new Problem('IDENTITY_ORIGIN', 'browser sessions are open to pages of this service only');
  throw await entries.recordRefusal({ action, origin: request.origin, reason: 'no page of this service sent the request' }, problem);
}

async function refreshByCookie(deps: AuthEndpointDeps, request: BrowserRequest): Promise<IssuedAccess> {
  const { database, entries, options } = deps;
  const origin = toSessionOrigin(request);
  const event = { action: 'refresh', origin } as const;
  const issued = await database.transaction(async (tx) => {
    const name = await findCookieName(tx);
    const cookie = name && readCookie(request, name);
    if (cookie === undefined) throw toMissingCookie(request);
    const renewed = await renewBrowserSession(tx, cookie, { client: origin, options });
    if (renewed === undefined) return undefined;
    const { user, session } = renewed;
    await entries.append(tx, { ...event, reason: 'refreshed', userId: user.id, role: user.role, sessionId: session.sessionId });
    return renewed;
  });
  if (issued !== undefined) return issueAccess(deps, issued);
  const problem = new Problem('IDENTITY_TOKEN', 'the browser session has ended', LOG_IN);
  throw await entries.recordRefusal({ ...event, reason: problem.detail }, problem);
}

function toMissingCookie(request: BrowserRequest): Problem {
  const detail = 'expected the cookie of a browser session, given none';
  return new Problem('IDENTITY_REQUIRED', detail, isPlainHttpPage(request) ? USE_HTTPS : LOG_IN);
}

const USE_HTTPS = {
  hint: 'browsers store the cookie only over HTTPS, or on the machine of the service; log in again after each reload, or use HTTPS',
};

const LOG_IN = { hint: 'log in with POST /auth/session' };

/** The end of the session of a cookie, with its reason for the audit log. */
interface SessionEnd {
  readonly cookie: string | undefined;
  readonly origin: AuthOrigin;
  readonly reason: string;
}

/** Ends the session of a cookie. A cookie without an open session changes nothing. */
async function endSession(tx: Transaction, { entries }: AuthEndpointDeps, { cookie, origin, reason }: SessionEnd): Promise<void> {
  const session = cookie === undefined ? undefined : await findOpenSession(tx, cookie);
  if (session === undefined) return;
  const { id: sessionId, userId } = session;
  await revokeSession(tx, session);
  const user = await loadActiveUser(tx, userId);
  await entries.append(tx, { action: 'logout', origin, reason, userId, role: user?.role, sessionId });
}

interface Renewal {
  readonly client: SessionClient;
  readonly options: Pick<AuthenticationOptions, 'sessionIdleSeconds' | 'sessionMaxSeconds'>;
}

/** Extends the session of a cookie until its idle timeout or its maximum length. Returns undefined if it has ended, or its user may not log in. */
async function renewBrowserSession(tx: Transaction, cookie: string, { client, options }: Renewal): Promise<IssuedSession | undefined> {
  const found = await findOpenSession(tx, cookie, tx.rowLock('noKeyUpdate'));
  const user = found && (await loadActiveUser(tx, found.userId));
  if (found === undefined || user === undefined) return undefined;
  const { sessionIdleSeconds, sessionMaxSeconds } = options;
  const end = Date.parse(found.createdAt) + sessionMaxSeconds * 1000;
  const session: TimedSession = { sessionId: found.id, expiresAt: Math.min(tx.now + sessionIdleSeconds * 1000, end) };
  if (end <= tx.now) return undefined;
  await extendSession(tx, session, client);
  return { user, session, now: tx.now };
}

interface StoredSession {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: string;
}

function findOpenSession(tx: Transaction, cookie: string, lock: Sql = sql``): Promise<StoredSession | undefined> {
  return tx.one<StoredSession>(sql`
    select "id", "userId", "createdAt" from "_Session"
    where "cookieHash" = ${toTokenHash(cookie)} and "revokedAt" is null and "expiresAt" > ${new Date(tx.now).toISOString()}${lock}`);
}

function loadActiveUser(tx: Transaction, userId: string): Promise<TokenUser | undefined> {
  return tx.one<TokenUser>(sql`
    select "id", "email", "name", "role" from "User" where "id" = ${userId} and "isActive" = true and "role" is not null`);
}
