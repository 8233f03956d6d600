import { Problem } from '../errors.ts';
import type { RequestOrigin } from '../request/index.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuthOrigin } from './auth-entries.ts';
import type { AuthEndpointDeps } from './authentication-deps.ts';
import { loadCaller } from './caller.ts';
import { loadOpenSessions, revokeOpenSession, type SessionPage, type SessionPageQuery } from './open-sessions.ts';
import { revokeSession, revokeSessions } from './sessions.ts';
import type { LocalToken, Tokens, VerifiedToken } from './tokens.ts';

/** A request with a token. */
export type TokenOrigin = AuthOrigin & Pick<RequestOrigin, 'token'>;

/** A page of the own sessions of a caller. */
export interface OwnSessionPage extends SessionPage {
  /** The id of the session of the token. */
  readonly current: string;
}

/** Lists and ends the sessions of the user of a token. @throws Problem IDENTITY_REQUIRED, IDENTITY_TOKEN, IDENTITY_TOKEN_EXPIRED, IDENTITY_ISSUER */
export interface OwnSessions {
  list(origin: TokenOrigin, page: SessionPageQuery): Promise<OwnSessionPage>;
  /** Ends the session of the token. */
  endCurrent(origin: TokenOrigin): Promise<void>;
  /** Ends one session. @throws Problem SESSION_UNKNOWN */
  end(origin: TokenOrigin, id: string): Promise<void>;
  /** Ends all sessions but that of the token. Returns their number. */
  endOthers(origin: TokenOrigin): Promise<number>;
}

/** The caller of a request about own sessions, in its transaction. */
interface SessionOwner {
  readonly tx: Transaction;
  readonly token: LocalToken;
  readonly role: string;
}

/** Creates the operations on own sessions. */
export function createOwnSessions({ database, entries, tokens, userDefinition }: AuthEndpointDeps): OwnSessions {
  async function asOwner<T>({ token: given }: TokenOrigin, work: (owner: SessionOwner) => Promise<T>): Promise<T> {
    const token = await verifyLocalToken(tokens, given);
    return database.transaction(async (tx) => {
      const { principal } = await loadCaller(tx, token, userDefinition());
      return work({ tx, token, role: principal.role });
    });
  }

  return {
    list: (origin, page) =>
      asOwner(origin, async ({ tx, token }) => ({ ...(await loadOpenSessions(tx, token.userId, page)), current: token.sessionId })),
    endCurrent: (origin) =>
      asOwner(origin, async ({ tx, token: { userId, sessionId }, role }) => {
        await revokeSession(tx, { id: sessionId, userId });
        await entries.append(tx, { action: 'logout', origin, reason: 'logged out', userId, role, sessionId });
      }),
    end: (origin, id) =>
      asOwner(origin, async ({ tx, token: { userId }, role }) => {
        if (!(await revokeOpenSession(tx, { id, userId }))) throw unknownSession();
        await entries.append(tx, { action: 'revoke', origin, reason: 'ended a session', userId, role, sessionId: id });
      }),
    endOthers: (origin) =>
      asOwner(origin, async ({ tx, token: { userId, sessionId }, role }) => {
        const ended = await revokeSessions(tx, userId, sessionId);
        await entries.append(tx, { action: 'revoke', origin, reason: `ended ${ended} other sessions`, userId, role });
        return ended;
      }),
  };
}

/** Returns the problem of an id that no open session of the user has. */
export function unknownSession(): Problem {
  return new Problem('SESSION_UNKNOWN', 'the user has no open session with this id');
}

/** Verifies a token of a request that needs one. @throws Problem IDENTITY_REQUIRED, IDENTITY_TOKEN, IDENTITY_TOKEN_EXPIRED */
export async function verifyRequiredToken(tokens: Tokens, token: string | undefined): Promise<VerifiedToken> {
  if (token === undefined) throw new Problem('IDENTITY_REQUIRED', 'expected a bearer token, given none');
  return tokens.verify(token);
}

/** Verifies a token of a request about sessions, which only tokens of this service have. */
async function verifyLocalToken(tokens: Tokens, given: string | undefined): Promise<LocalToken> {
  const token = await verifyRequiredToken(tokens, given);
  if (token.issuer === undefined) return token;
  throw new Problem('IDENTITY_ISSUER', 'this token is of another issuer, which manages its sessions');
}
