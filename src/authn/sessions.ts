import { createHash, randomBytes } from 'node:crypto';
import { createId } from '../ids.ts';
import { sql } from '../sql.ts';
import type { Transaction, UserSession } from '../storage/index.ts';
import type { TokenUser } from './authentication-deps.ts';
import { deleteSome } from './delete-some.ts';

/** The client of a session, by which a person recognizes the session. */
export interface SessionClient {
  readonly ip: string;
  /** The header User-Agent, as sent. */
  readonly userAgent?: string | undefined;
}

/** A session that is open until `expiresAt`, unless it is renewed or revoked. Access tokens contain its id. */
export interface TimedSession {
  readonly sessionId: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A session with its current refresh token. */
export interface OpenSession extends TimedSession {
  /** 32 random bytes as base64url. Only the client has it; the database has its digest. */
  readonly refreshToken: string;
}

/** A session to open. */
export interface NewSession {
  readonly userId: string;
  readonly client: SessionClient;
  /** Seconds after which the session expires unless it is renewed. */
  readonly seconds: number;
}

/** Opens a session for a user who has just logged in. */
export async function openSession(tx: Transaction, given: NewSession): Promise<OpenSession> {
  const session = await insertSession(tx, given);
  return { ...session, refreshToken: await addRefreshToken(tx, session.sessionId, given.seconds) };
}

/**
 * Maximum number of open sessions of a user: those of the latest logins. Without a limit, the statement that revokes all of them could take
 * longer than a request.
 */
const MAX_OPEN = 1000;
/** Maximum number of sessions that a login ends. Usually it ends one; after an update from a version without the limit, there can be many. */
const ENDED_AT_ONCE = 200;

/** Inserts a session, and ends the oldest sessions of a user who has too many. A browser session has the hash of its cookie. */
export async function insertSession(tx: Transaction, { userId, client, seconds }: NewSession, cookieHash?: string): Promise<TimedSession> {
  const sessionId = createId();
  const expiresAt = tx.now + seconds * 1000;
  const now = toIso(tx.now);
  const { ip, userAgent } = toStoredClient(client);
  await tx.run(sql`
    insert into "_Session" ("id", "userId", "createdAt", "expiresAt", "lastUsedAt", "cookieHash", "ip", "userAgent")
    values (${sessionId}, ${userId}, ${now}, ${toIso(expiresAt)}, ${now}, ${cookieHash ?? null}, ${ip}, ${userAgent})`);
  await endOldest(tx, userId);
  return { sessionId, expiresAt };
}

/** Ends the oldest open sessions of a user beyond the limit. Expired ones count, because they would be open again if the clock is corrected. */
async function endOldest(tx: Transaction, userId: string): Promise<void> {
  // The order is that of the index, so that no sessions are sorted.
  const { changes } = await tx.run(sql`
    update "_Session" set "revokedAt" = ${toIso(tx.now)} where "id" in (
      select "id" from "_Session" where "userId" = ${userId} and "revokedAt" is null
      order by "revokedAt" desc, "id" desc limit ${ENDED_AT_ONCE} offset ${MAX_OPEN})`);
  if (changes > 0) tx.addToWriteSet({ endedSessionsOf: [userId] });
}

/** Extends a session, and stores its client as that of the last use. */
export async function extendSession(tx: Transaction, { sessionId, expiresAt }: TimedSession, client: SessionClient): Promise<void> {
  const { ip, userAgent } = toStoredClient(client);
  await tx.run(sql`
    update "_Session" set "expiresAt" = ${toIso(expiresAt)}, "lastUsedAt" = ${toIso(tx.now)}, "ip" = ${ip}, "userAgent" = ${userAgent}
    where "id" = ${sessionId}`);
}

/** Maximum characters of a stored user agent. */
const MAX_USER_AGENT = 200;

/** Removes control and formatting characters, which could change how a list of sessions is displayed. */
function toStoredClient({ ip, userAgent }: SessionClient): { readonly ip: string; readonly userAgent: string | null } {
  const shown = userAgent?.slice(0, 2 * MAX_USER_AGENT).replace(/[\p{Cc}\p{Cf}]/gu, '');
  return { ip, userAgent: shown === undefined ? null : shown.slice(0, MAX_USER_AGENT).toWellFormed() };
}

/** A renewed session, and its user as stored now. */
export interface RenewedSession {
  readonly session: OpenSession;
  readonly user: TokenUser;
}

/** A session that was ended, because one of its refresh tokens was used twice. */
export interface EndedSession {
  readonly ended: UserSession;
}

/**
 * Exchanges a refresh token for a new one. Returns undefined if the token is not valid or its user is not active. A token that is used a
 * second time has been copied. The copy cannot be distinguished from the original, so the whole session ends.
 */
export async function renewSession(
  tx: Transaction,
  refreshToken: string,
  { client, seconds }: Pick<NewSession, 'client' | 'seconds'>,
): Promise<RenewedSession | EndedSession | undefined> {
  const id = toTokenHash(refreshToken);
  const now = toIso(tx.now);
  const found = await tx.one<TokenUser & { sessionId: string }>(sql`
    select s."id" as "sessionId", u."id" as "id", u."email" as "email", u."name" as "name", u."role" as "role"
    from "_RefreshToken" t join "_Session" s on s."id" = t."sessionId" join "User" u on u."id" = s."userId"
    where t."id" = ${id} and t."expiresAt" > ${now} and s."expiresAt" > ${now} and s."revokedAt" is null
    and u."isActive" = true and u."role" is not null`);
  if (found === undefined) return undefined;
  const { sessionId, ...user } = found;
  const used = await tx.run(sql`update "_RefreshToken" set "usedAt" = ${now} where "id" = ${id} and "usedAt" is null`);
  if (used.changes === 0) {
    const ended = { id: sessionId, userId: user.id };
    await revokeSession(tx, ended);
    return { ended };
  }
  const session = { sessionId, expiresAt: tx.now + seconds * 1000 };
  await extendSession(tx, session, client);
  return { session: { ...session, refreshToken: await addRefreshToken(tx, sessionId, seconds) }, user };
}

/** Revokes one session. Its access and refresh tokens are refused after the commit. */
export async function revokeSession(tx: Transaction, { id, userId }: UserSession): Promise<void> {
  await tx.run(sql`update "_Session" set "revokedAt" = ${toIso(tx.now)} where "id" = ${id} and "revokedAt" is null`);
  tx.addToWriteSet({ endedSessionsOf: [userId] });
}

/**
 * Revokes every session of a user but the one with the id `except`, and returns the number of those that were open. Sessions that have expired
 * are revoked too: the clock may be ahead now, and they would be open again when it is corrected.
 */
export async function revokeSessions(tx: Transaction, userId: string, except = ''): Promise<number> {
  const now = toIso(tx.now);
  const isRevoked = sql`"userId" = ${userId} and "id" <> ${except} and "revokedAt" is null`;
  const open = await tx.one<{ count: number | string }>(
    sql`select count(*) as "count" from "_Session" where ${isRevoked} and "expiresAt" > ${now}`,
  );
  await tx.run(sql`update "_Session" set "revokedAt" = ${now} where ${isRevoked}`);
  tx.addToWriteSet({ endedSessionsOf: [userId] });
  return Number(open?.count);
}

/** Revokes every session of every user. */
export async function revokeAllSessions(tx: Transaction): Promise<void> {
  await tx.run(sql`update "_Session" set "revokedAt" = ${toIso(tx.now)} where "revokedAt" is null`);
}

/**
 * Deletes some expired sessions and refresh tokens. Used tokens are kept until they expire, so that their reuse is detected.
 * Returns true if more may be left.
 */
export async function deleteExpiredSessions(tx: Transaction): Promise<boolean> {
  const isExpired = sql`"expiresAt" <= ${toIso(tx.now)}`;
  const tokens = await deleteSome(tx, '_RefreshToken', isExpired);
  return (await deleteSome(tx, '_Session', isExpired)) || tokens;
}

async function addRefreshToken(tx: Transaction, sessionId: string, seconds: number): Promise<string> {
  const token = createSessionSecret();
  await tx.run(sql`
    insert into "_RefreshToken" ("id", "sessionId", "createdAt", "expiresAt")
    values (${toTokenHash(token)}, ${sessionId}, ${toIso(tx.now)}, ${toIso(tx.now + seconds * 1000)})`);
  return token;
}

/** Creates the secret of a refresh token or a cookie: 32 random bytes as base64url. */
export function createSessionSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Hashes such a secret. A fast hash is enough, because 256 random bits cannot be guessed. */
export function toTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function toIso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
