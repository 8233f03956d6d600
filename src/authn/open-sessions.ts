import { sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import { revokeSession } from './sessions.ts';

/** An open session, with what a person recognizes it by. */
export interface OpenSessionSummary {
  readonly id: string;
  /** `browser`: with a cookie; `bearer`: with a refresh token. */
  readonly kind: 'browser' | 'bearer';
  readonly createdAt: string;
  /** Time of the login or the last refresh. Absent in sessions that an earlier version of the service has opened. */
  readonly lastUsedAt?: string;
  /** The time at which the session expires unless it is refreshed. */
  readonly expiresAt: string;
  /** Address and header User-Agent at `lastUsedAt`. */
  readonly ip?: string;
  readonly userAgent?: string;
}

/** The page of a list of sessions: at most `limit` sessions, after the one with the id `cursor`. */
export interface SessionPageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** A page of open sessions. */
export interface SessionPage {
  readonly sessions: readonly OpenSessionSummary[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/** Default number of sessions per page. */
export const SESSIONS_PER_PAGE = 50;

interface SessionRow {
  readonly id: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string | null;
  readonly cookieHash: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** Loads a page of the open sessions of a user, the newest first. */
export async function loadOpenSessions(
  tx: Transaction,
  userId: string,
  { limit = SESSIONS_PER_PAGE, cursor }: SessionPageQuery,
): Promise<SessionPage> {
  const after = cursor === undefined ? sql`` : sql` and "id" < ${cursor}`;
  const rows = await tx.all<SessionRow>(sql`
    select "id", "createdAt", "expiresAt", "lastUsedAt", "cookieHash", "ip", "userAgent" from "_Session"
    where ${tx.dialect.deadlineCheck(sql.table('_Session'))} and "userId" = ${userId} and "revokedAt" is null and "expiresAt" > ${toIso(tx.now)}${after}
    order by "id" desc limit ${limit + 1}`);
  const sessions = rows.slice(0, limit).map(toSummary);
  const last = sessions.at(-1);
  return { sessions, ...(rows.length > limit && last !== undefined && { nextCursor: last.id }) };
}

function toSummary({ id, createdAt, expiresAt, lastUsedAt, cookieHash, ip, userAgent }: SessionRow): OpenSessionSummary {
  return {
    id,
    kind: cookieHash === null ? 'bearer' : 'browser',
    createdAt,
    ...(lastUsedAt !== null && { lastUsedAt }),
    expiresAt,
    ...(ip !== null && { ip }),
    ...(userAgent !== null && { userAgent }),
  };
}

/** Ends one open session of a user. Returns false if the user has no open session with this id. */
export async function revokeOpenSession(tx: Transaction, session: { readonly id: string; readonly userId: string }): Promise<boolean> {
  const open = await tx.one(sql`
    select 1 as "found" from "_Session"
    where "id" = ${session.id} and "userId" = ${session.userId} and "revokedAt" is null and "expiresAt" > ${toIso(tx.now)}`);
  if (open !== undefined) await revokeSession(tx, session);
  return open !== undefined;
}

function toIso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
