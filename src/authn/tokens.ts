// Imports subpaths of jose, because loading the whole package would slow down the start.

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

/** A token with a verified signature and claims. Its user and session are loaded in the transaction. */
export type VerifiedToken = LocalToken | ForeignToken;

/**
 * Returns the user id of an identity of a trusted issuer. It is unique, because the config refuses an issuer that contains `|`, and it is
 * never the id of a local user, because that is a UUID.
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

/** A token of a trusted issuer. Its identity is the pair of issuer and subject; the subject alone never identifies a stored user. */
export interface ForeignToken {
  readonly issuer: string;
  readonly subject: string;
  /** Seconds since 1970. */
  readonly expires: number;
  readonly claims: JWTPayload;
}

/** The issuers, the audience and the lifetime of tokens. */
export interface TokenOptions {
  readonly jwtIssuer: string;
  readonly jwtAudience: string;
  /** Other issuers, which sign with the same key. */
  readonly trustedIssuers: readonly string[];
}

/** The user and session of a new token. */
export interface TokenSubject {
  readonly userId: string;
  readonly sessionId: string;
  /** For other services that read the token; this service uses the stored role. */
  readonly role: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The lifetime. */
  readonly seconds: number;
}

/** Signs and verifies access tokens. */
export interface Tokens {
  sign(subject: TokenSubject): Promise<string>;
  /** Verifies the form, signature and claims of a token. @throws Problem IDENTITY_TOKEN, IDENTITY_TOKEN_EXPIRED */
  verify(token: string): Promise<VerifiedToken>;
}

const TYPE = 'at+jwt';
const MAX_LENGTH = 8192;
/** Maximum characters of a user id. `createdBy` and audit entries truncate longer ones, which could make two ids equal. */
const MAX_ID = 200;
/** Control characters, which a user id must not contain: they would appear in logs and audit entries, and PostgreSQL cannot store NUL. */
const CONTROL = /\p{Cc}/u;
const CACHE_SIZE = 10_000;

/** Creates the token functions of a key, with a cache of verified tokens. */
export function createTokens(key: TokenKey, options: TokenOptions): Tokens {
  /** Verified tokens by digest, so that a memory dump of the cache contains no token. Only tokens with a valid signature are added. */
  const verified = new LRUCache<string, VerifiedToken>({ max: CACHE_SIZE });

  return {
    sign: ({ userId, sessionId, role, now, seconds }) => {
      const issued = Math.floor(now / 1000);
      return new SignJWT({ sid: sessionId, role })
        .setProtectedHeader({ alg: key.algorithm, typ: TYPE })
        .setIssuer(options.jwtIssuer)
        .setAudience(options.jwtAudience)
        .setSubject(userId)
        .setIssuedAt(issued)
        .setExpirationTime(issued + seconds)
        .setJti(createId())
        .sign(key.signing);
    },
    async verify(token) {
      const digest = hash('sha256', token, 'base64');
      let known = verified.get(digest);
      if (known === undefined) {
        validateForm(token);
        known = toVerified(await verifySignature(token, key, options), options);
        verified.set(digest, known);
      } else if (known.expires + CLOCK_LEEWAY_SECONDS <= Date.now() / 1000) {
        verified.delete(digest);
        throw expired(toUserId(known));
      }
      return known;
    },
  };
}

/** Requires three parts of canonical base64url, because the library accepts padding and stray characters. */
function validateForm(token: string): void {
  const parts = token.length <= MAX_LENGTH ? token.split('.', 4) : [];
  const isCanonical = (part: string): boolean => part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part;
  if (parts.length !== 3 || !parts.every(isCanonical)) throw refused();
}

async function verifySignature(token: string, key: TokenKey, options: TokenOptions): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, key.verifying, {
      algorithms: [key.algorithm],
      typ: TYPE,
      issuer: [options.jwtIssuer, ...options.trustedIssuers],
      audience: options.jwtAudience,
      requiredClaims: ['sub', 'iat', 'exp'],
      clockTolerance: CLOCK_LEEWAY_SECONDS,
    });
    return payload;
  } catch (error) {
    if (!(error instanceof JWTExpired)) throw refused(error);
    // The signature was verified before the claims, so the subject is genuine.
    throw expired(toExpiredUserId(error.payload, options));
  }
}

function toVerified(claims: JWTPayload, { jwtIssuer }: TokenOptions): VerifiedToken {
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

/** Returns true if a value can be a user id. Databases replace unpaired surrogates, so two ids that contain them could become equal. */
function isId(text: unknown): text is string {
  return typeof text === 'string' && text !== '' && text.length <= MAX_ID && text.isWellFormed() && !CONTROL.test(text);
}

/** Returns the problem of an invalid token. The text is the same for every defect, so that a forger learns nothing. */
function refused(cause?: unknown): Problem {
  return new Problem('IDENTITY_TOKEN', 'the token is not valid', { cause });
}

function expired(userId: string | undefined): Problem {
  return new Problem('IDENTITY_TOKEN_EXPIRED', 'the token has expired', userId === undefined ? {} : { userId });
}

function toUserId(token: VerifiedToken): string {
  return token.issuer === undefined ? token.userId : toForeignId(token.issuer, token.subject);
}

function toExpiredUserId({ iss, sub }: JWTPayload, { jwtIssuer }: TokenOptions): string | undefined {
  if (iss === undefined || !isId(sub)) return undefined;
  return iss === jwtIssuer ? sub : toForeignId(iss, sub);
}
