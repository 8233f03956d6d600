import { createHash, randomBytes } from 'node:crypto';
import { createId } from '../ids.ts';
import { sql } from '../sql.ts';
import type { Transaction, UserSession } from '../storage/index.ts';
import type { TokenUser } from './authentication-deps.ts';

/** A session with its current refresh token. Access tokens contain the session id. */
export interface OpenSession {
  readonly sessionId: string;
  /** 32 random bytes as base64url. Only the client has it; the database has its digest. */
  readonly refreshToken: string;
}

/** Opens a session for a user who has just logged in. The session expires after `seconds` unless it is renewed. */
export async function openSession(tx: Transaction, userId: string, seconds: number): Promise<OpenSession> {
  const sessionId = createId();
  await tx.run(sql`
    insert into "_Session" ("id", "userId", "createdAt", "expiresAt")
    values (${sessionId}, ${userId}, ${toIso(tx.now)}, ${toIso(tx.now + seconds * 1000)})`);
  return { sessionId, refreshToken: await addRefreshToken(tx, sessionId, seconds) };
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
  seconds: number,
): Promise<RenewedSession | EndedSession | undefined> {
  const id = toDigest(refreshToken);
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
  await tx.run(sql`update "_Session" set "expiresAt" = ${toIso(tx.now + seconds * 1000)} where "id" = ${sessionId}`);
  return { session: { sessionId, refreshToken: await addRefreshToken(tx, sessionId, seconds) }, user };
}

/** Revokes one session. Its access and refresh tokens are refused after the commit. */
export async function revokeSession(tx: Transaction, { id, userId }: UserSession): Promise<void> {
  await tx.run(sql`update "_Session" set "revokedAt" = ${toIso(tx.now)} where "id" = ${id} and "revokedAt" is null`);
  tx.addToWriteSet({ endedSessionsOf: [userId] });
}

/** Revokes every session of a user, after a new password, deactivation or deletion. */
export async function revokeSessions(tx: Transaction, userId: string): Promise<void> {
  await tx.run(sql`update "_Session" set "revokedAt" = ${toIso(tx.now)} where "userId" = ${userId} and "revokedAt" is null`);
  tx.addToWriteSet({ endedSessionsOf: [userId] });
}

/** Revokes every session of every user. */
export async function revokeAllSessions(tx: Transaction): Promise<void> {
  await tx.run(sql`update "_Session" set "revokedAt" = ${toIso(tx.now)} where "revokedAt" is null`);
}

/** Deletes expired sessions and refresh tokens. Used tokens are kept until they expire, so that their reuse is detected. */
export async function deleteExpiredSessions(tx: Transaction): Promise<void> {
  await tx.run(sql`delete from "_RefreshToken" where "expiresAt" <= ${toIso(tx.now)}`);
  await tx.run(sql`delete from "_Session" where "expiresAt" <= ${toIso(tx.now)}`);
}

async function addRefreshToken(tx: Transaction, sessionId: string, seconds: number): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await tx.run(sql`
    insert into "_RefreshToken" ("id", "sessionId", "createdAt", "expiresAt")
    values (${toDigest(token)}, ${sessionId}, ${toIso(tx.now)}, ${toIso(tx.now + seconds * 1000)})`);
  return token;
}

function toDigest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function toIso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
