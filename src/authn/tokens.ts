import { hash } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { JWTExpired } from 'jose/errors';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import { LRUCache } from 'lru-cache';
import { Problem } from '../errors.ts';
import { createId } from '../ids.ts';
import { CLOCK_LEEWAY_SECONDS } from '../storage/index.ts';
import type { TokenKey } from './signing-key.ts';

// By its parts: the whole of it would be a good part of the time to start.

/** A token whose signature and claims were checked. Its user and session are checked in the transaction. */
export type VerifiedToken = LocalToken | ForeignToken;

/**
 * Returns the user id of an identity of a trusted issuer. No two identities have the same one, because the setting refuses an
 * issuer with `|` in it; and no local user has it, because the id of a local user is a UUID.
 */
export function toForeignId(issuer: string, subject: string): string {
  return `${issuer}|${subject}`;
}

/** A token that this service issued. */
export interface LocalToken {
  readonly issuer: undefined;
  readonly userId: string;
  readonly sessionId: string;
  /** Seconds since 1970. */
  readonly expires: number;
}

/** A token of a trusted issuer. An identity is the pair of issuer and subject: the subject alone never names a stored user. */
export interface ForeignToken {
  readonly issuer: string;
  readonly subject: string;
  /** Seconds since 1970. */
  readonly expires: number;
  readonly claims: JWTPayload;
}

/** What tokens must say. */
export interface TokenSettings {
  readonly jwtIssuer: string;
  readonly jwtAudience: string;
  /** Other issuers that sign with the same key. */
  readonly trustedIssuers: readonly string[];
  readonly accessTokenSeconds: number;
}

/** Who a token is signed for. */
export interface TokenHolder {
  readonly userId: string;
  readonly sessionId: string;
  /** For those who read tokens elsewhere: here the stored role counts. */
  readonly role: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Signs and verifies access tokens. */
export interface Tokens {
  sign(holder: TokenHolder): Promise<string>;
  /** @throws Problem IDENTITY_TOKEN, IDENTITY_TOKEN_EXPIRED */
  verify(token: string): Promise<VerifiedToken>;
}

const TYPE = 'at+jwt';
const MAX_LENGTH = 8192;
/** Characters of a user id, as `createdBy` and audit entries hold it: a longer one would be cut there, and two could become one. */
const MAX_ID = 200;
/** Control characters, which would reach logs and audit entries, and which PostgreSQL cannot store (NUL). */
const CONTROL = /\p{Cc}/u;
const CACHED = 10_000;

/** Tokens of this key, with their own cache of verified ones. */
export function createTokens(key: TokenKey, settings: TokenSettings): Tokens {
  /** By digest, so that a dump of the cache gives no token away. Only what was signed with our key comes in. */
  const verified = new LRUCache<string, VerifiedToken>({ max: CACHED });

  return {
    sign: ({ userId, sessionId, role, now }) => {
      const issued = Math.floor(now / 1000);
      return new SignJWT({ sid: sessionId, role })
        .setProtectedHeader({ alg: key.algorithm, typ: TYPE })
        .setIssuer(settings.jwtIssuer)
        .setAudience(settings.jwtAudience)
        .setSubject(userId)
        .setIssuedAt(issued)
        .setExpirationTime(issued + settings.accessTokenSeconds)
        .setJti(createId())
        .sign(key.signing);
    },
    async verify(token) {
      const digest = hash('sha256', token, 'base64');
      let known = verified.get(digest);
      if (known === undefined) {
        checkShape(token);
        known = toVerified(await verifySignature(token, key, settings), settings);
        verified.set(digest, known);
      } else if (known.expires + CLOCK_LEEWAY_SECONDS <= Date.now() / 1000) {
        verified.delete(digest);
        throw expired();
      }
      return known;
    },
  };
}

/** Three parts of canonical base64url, before anything decodes them: the library forgives padding and stray characters. */
function checkShape(token: string): void {
  const parts = token.length <= MAX_LENGTH ? token.split('.', 4) : [];
  const isCanonical = (part: string): boolean => part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part;
  if (parts.length !== 3 || !parts.every(isCanonical)) throw refused();
}

async function verifySignature(token: string, key: TokenKey, settings: TokenSettings): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, key.verifying, {
      algorithms: [key.algorithm],
      typ: TYPE,
      issuer: [settings.jwtIssuer, ...settings.trustedIssuers],
      audience: settings.jwtAudience,
      requiredClaims: ['sub', 'iat', 'exp'],
      clockTolerance: CLOCK_LEEWAY_SECONDS,
    });
    return payload;
  } catch (error) {
    throw error instanceof JWTExpired ? expired() : refused(error);
  }
}

function toVerified(claims: JWTPayload, { jwtIssuer }: TokenSettings): VerifiedToken {
  const { iss, sub, iat = Number.POSITIVE_INFINITY, exp = 0, sid } = claims;
  if (iss === undefined || !isId(sub)) throw refused();
  if (iat > Date.now() / 1000 + CLOCK_LEEWAY_SECONDS) throw refused();
  if (iss !== jwtIssuer) {
    if (!isId(toForeignId(iss, sub))) throw refused();
    return { issuer: iss, subject: sub, expires: exp, claims };
  }
  if (typeof sid !== 'string') throw refused();
  return { issuer: undefined, userId: sub, sessionId: sid, expires: exp };
}

/** Half a surrogate pair is refused because a database replaces it: two subjects would be stored as one. */
function isId(text: unknown): text is string {
  return typeof text === 'string' && text !== '' && text.length <= MAX_ID && text.isWellFormed() && !CONTROL.test(text);
}

/** One text for whatever is wrong: a caller with a good token never sees it, and a forger learns nothing. */
function refused(cause?: unknown): Problem {
  return new Problem('IDENTITY_TOKEN', 'the token is not valid here', { cause });
}

function expired(): Problem {
  return new Problem('IDENTITY_TOKEN_EXPIRED', 'the token has expired');
}
