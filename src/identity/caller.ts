import { type RawBuilder, sql } from 'kysely';
import type { Principal } from '../context/index.ts';
import { Problem } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import { ASSIGNABLE_ROLES } from '../policy/index.ts';
import { fromRow, type Resource, type StoredRecord } from '../resource/index.ts';
import type { Transaction } from '../storage/index.ts';
import type { VerifiedToken } from './token.ts';

/** Who a token stands for at this moment. */
export interface Caller {
  readonly principal: Principal;
  /** Without secret fields; undefined where only a trusted issuer's claims tell of the user. */
  readonly record: StoredRecord | undefined;
}

/**
 * Loads who a verified token stands for. Role and attributes are those of the stored record, now: demotion, deactivation,
 * a new password and logout count from the commit on. Claims count only where no such user is stored.
 *
 * @throws Problem IDENTITY_TOKEN. A token that is not good never makes its bearer `anon`.
 */
export async function loadCaller(tx: Transaction, token: VerifiedToken, user: Resource): Promise<Caller> {
  const { userId, sessionId } = token;
  const row = await tx.one(sessionId === undefined ? byId(token, user) : byOpenSession(tx, token, user));
  if (sessionId !== undefined) {
    if (row === undefined) throw refused('the session of this token is over');
    tx.restsOn({ sessions: [{ id: sessionId, userId }] });
  }
  if (row !== undefined) return toCaller(tx, fromRow(user, row));
  tx.restsOn({ users: [{ id: userId, version: 0 }] });
  return { principal: toForeignPrincipal(token), record: undefined };
}

/**
 * Loads the active user of an email, as stored now.
 *
 * @throws Problem USER_UNKNOWN
 */
export async function loadCallerByEmail(tx: Transaction, email: string, user: Resource): Promise<Caller> {
  const row = await tx.one(
    sql`select ${shownColumns(user)} from "User" where "email" = ${email.trim().toLowerCase()} and "isActive" = true`,
  );
  if (row === undefined) throw new Problem('USER_UNKNOWN', 'no active user has this email');
  return toCaller(tx, fromRow(user, row));
}

function byId(token: VerifiedToken, user: Resource): RawBuilder<unknown> {
  return sql`select ${shownColumns(user)} from "User" where "id" = ${token.userId}`;
}

/** One statement for user and session: this runs for every request. As a join, SQLite takes ten times as long. */
function byOpenSession(tx: Transaction, token: VerifiedToken, user: Resource): RawBuilder<unknown> {
  return sql`
    select ${shownColumns(user)} from "User" where "id" = ${token.userId} and "id" = (
      select "userId" from "_Session" where "id" = ${token.sessionId}
      and "revokedAt" is null and "expiresAt" > ${new Date(tx.now).toISOString()})`;
}

const columnsByDefinition = new WeakMap<Resource, RawBuilder<unknown>>();

/** Every column but secret ones: those never leave the database on this way. */
function shownColumns(user: Resource): RawBuilder<unknown> {
  let columns = columnsByDefinition.get(user);
  if (columns === undefined) {
    const shown = [...user.fields.values()].filter((field) => !field.writeOnly);
    columns = sql.join(shown.map((field) => sql.ref(field.name)));
    columnsByDefinition.set(user, columns);
  }
  return columns;
}

function toCaller(tx: Transaction, record: StoredRecord): Caller {
  tx.restsOn({ users: [{ id: record.id, version: record.version }] });
  const role = record['role'];
  if (record['isActive'] !== true || typeof role !== 'string') throw refused('the user of this token is not active');
  return { principal: { id: record.id, role, attributes: record }, record };
}

/** Claims that are about the token and not about the user. */
const TOKEN_CLAIMS: ReadonlySet<string> = new Set(['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'sid']);

/** A trusted issuer vouches for role and attributes; a role that nothing here is assigned to is a mistake, not a user without rights. */
function toForeignPrincipal({ userId, claims }: VerifiedToken): Principal {
  const role = ASSIGNABLE_ROLES.find((known) => known === claims['role']);
  if (role === undefined) throw refused('the role claim of this token names no known role');
  const attributes = Object.fromEntries(Object.entries(claims).filter(([name]) => !TOKEN_CLAIMS.has(name))) as JsonObject;
  return { id: userId, role, attributes: { ...attributes, id: userId } };
}

function refused(detail: string): Problem {
  return new Problem('IDENTITY_TOKEN', detail);
}
