import { LRUCache } from 'lru-cache';
import { ANON, type Principal } from '../authz/context/index.ts';
import { Problem } from '../errors.ts';
import { memoize } from '../memoize.ts';
import { type JsonObject, toInstantText } from '../operators/index.ts';
import { ASSIGNABLE_ROLES, fromRow, type Resource, type Row, type StoredRecord } from '../resources/index.ts';
import { sql } from '../sql.ts';
import {
  checkedReadingById,
  checkedSelectionOf,
  hasSameContent,
  type Query,
  requireIntactRecord,
  type Statement,
  type Transaction,
} from '../storage/index.ts';
import { type ForeignToken, type LocalToken, toForeignId, type VerifiedToken } from './tokens.ts';

/** The reason with which tokens of inactive users are refused. */
export const INACTIVE_USER = 'the user of this token is not active';

/** The identification of a caller: the query of the stored user, which a unit of work sends together with others, and the reading of its row. */
export interface Identification {
  /** Returns the query; undefined if no user is stored. */
  query(tx: Transaction, user: Resource): Query | undefined;
  /** Returns the principal from the first row of the query. @throws Problem IDENTITY_TOKEN, USER_UNKNOWN, STORAGE_DAMAGED */
  toPrincipal(tx: Transaction, user: Resource, row: Row | undefined): Principal;
}

/** Returns the principal of an identification. */
export async function identify(tx: Transaction, user: Resource, by: Identification): Promise<Principal> {
  const query = by.query(tx, user);
  return by.toPrincipal(tx, user, query && (await tx.one<Row>(query)));
}

/** Returns the identification by a verified token; that of `anon` without a token. */
export function identifyByToken(token: VerifiedToken | undefined): Identification {
  return token === undefined ? ANONYMOUS : new TokenIdentification(token);
}

const ANONYMOUS: Identification = Object.freeze({ query: () => undefined, toPrincipal: () => ANON });

class TokenIdentification implements Identification {
  readonly #token: VerifiedToken;

  constructor(token: VerifiedToken) {
    this.#token = token;
  }

  query(tx: Transaction, user: Resource): Statement | undefined {
    return this.#token.issuer === undefined ? byOpenSession(tx, this.#token, user) : undefined;
  }

  toPrincipal(tx: Transaction, user: Resource, row: Row | undefined): Principal {
    return this.#token.issuer === undefined ? toSessionUser(tx, this.#token, { user, row }).principal : toForeignPrincipal(this.#token);
  }
}

/** Returns the identification by the email of an active user, for CLI commands. */
export function identifyByEmail(email: string): Identification {
  return {
    query: (_tx, user) =>
      sql`select ${checkedSelectionOf(user)} from "User" where "email" = ${email.trim().toLowerCase()} and "isActive" = true`,
    toPrincipal(tx, user, row) {
      if (row !== undefined) return toCaller(tx, user, row).principal;
      throw new Problem(
        'USER_UNKNOWN',
        `no active user has the email "${email.slice(0, 254)}"; create a user with "bailiwick user create"`,
      );
    },
  };
}

/** The principal that a token identifies, and its user record. */
export interface IdentifiedUser {
  readonly principal: Principal;
  /** Without secret fields; undefined for an identity of a trusted issuer. */
  readonly record: StoredRecord | undefined;
}

/**
 * Loads the identity that a verified token proves. Role and attributes of a local user are read from the stored record, so
 * that demotion, deactivation, a new password and logout apply from their commit on. A token of a trusted issuer never identifies a local
 * user, even if its subject is a local id; role and attributes come from its claims.
 *
 * @throws Problem IDENTITY_TOKEN, STORAGE_DAMAGED. An invalid token is never treated as `anon`.
 */
export async function loadCaller(tx: Transaction, token: VerifiedToken, user: Resource): Promise<IdentifiedUser> {
  if (token.issuer !== undefined) return { principal: toForeignPrincipal(token), record: undefined };
  return toSessionUser(tx, token, { user, row: await tx.one<Row>(byOpenSession(tx, token, user)) });
}

/** The definition of `User`, and the row of the query of a user. */
interface UserRow {
  readonly user: Resource;
  readonly row: Row | undefined;
}

function toSessionUser(tx: Transaction, { userId, sessionId }: LocalToken, { user, row }: UserRow): IdentifiedUser {
  if (row === undefined) throw refused('the session of this token has ended', userId);
  tx.addToReadSet({ sessions: [{ id: sessionId, userId }] });
  return toCaller(tx, user, row);
}

const sessionTexts = new WeakMap<Transaction['dialect'], WeakMap<Resource, string>>();

/** Returns the statement that loads the user of a token if the session is open. On SQLite a join would take ten times as long. */
function byOpenSession({ dialect, now }: Transaction, { userId, sessionId }: LocalToken, user: Resource): Statement {
  const texts = memoize(sessionTexts, dialect, () => new WeakMap<Resource, string>());
  const text = memoize(texts, user, () => {
    const [id, at] = [dialect.placeholder(2), dialect.placeholder(3)];
    const session = `SELECT "userId" FROM "_Session" WHERE "id" = ${id} AND "revokedAt" IS NULL AND "expiresAt" > ${at}`;
    return `${checkedReadingById(dialect, user)} AND "id" = (${session})`;
  });
  return { sql: text, parameters: [userId, sessionId, toInstantText(now)], isLookup: true };
}

function toCaller(tx: Transaction, user: Resource, row: Row): IdentifiedUser {
  const record = fromRow(user, requireIntactUser(user, row));
  tx.addToReadSet({ users: [{ id: record.id, version: record.version }] });
  const role = record['role'];
  if (record['isActive'] !== true || typeof role !== 'string') throw refused(INACTIVE_USER, record.id);
  return { principal: { id: record.id, role, attributes: record }, record };
}

/** Maximum users whose last intact row is cached: nearly every request of a caller reads the same row. */
const MAX_INTACT = 10_000;
const intactUsers = new WeakMap<Resource, LRUCache<string, Row>>();

/** Returns the row of a user. @throws Problem STORAGE_DAMAGED if its checksum does not match its content. */
function requireIntactUser(user: Resource, row: Row): Row {
  const intact = memoize(intactUsers, user, createIntactRows);
  const id = String(row['id']);
  const known = intact.get(id);
  if (known !== undefined && hasSameContent(user, row, known)) return row;
  intact.set(id, requireIntactRecord(user, row));
  return row;
}

const createIntactRows = (): LRUCache<string, Row> => new LRUCache({ max: MAX_INTACT });

/** Claims that describe the token, not the user. */
const TOKEN_CLAIMS: ReadonlySet<string> = new Set(['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'sid']);

/** Reads role and attributes from the claims of a trusted issuer. Refuses an unknown role, to which no policy can be assigned. */
function toForeignPrincipal({ issuer, subject, claims }: ForeignToken): Principal {
  const role = ASSIGNABLE_ROLES.find((known) => known === claims['role']);
  if (role === undefined) throw refused('the role claim of this token names no known role', toForeignId(issuer, subject));
  const attributes = Object.fromEntries(Object.entries(claims).filter(([name]) => !TOKEN_CLAIMS.has(name))) as JsonObject;
  const id = toForeignId(issuer, subject);
  return { id, role, attributes: { ...attributes, id, issuer, subject } };
}

function refused(detail: string, userId: string): Problem {
  return new Problem('IDENTITY_TOKEN', detail, { userId });
}
