/**
 * Hashing or verifying a password takes tens of milliseconds and cannot happen inside a transaction, and must not happen for a
 * caller who is denied. So the unit of work runs first with placeholders. If it succeeds and a hash or proof was missing, it is rolled
 * back, the hashes and the proof are computed, and it runs again.
 */

import type { PasswordClaim, PasswordProof } from '../../authn/index.ts';
import { Problem } from '../../errors.ts';

/** Thrown at the end of a unit of work that would store placeholders or depends on a claim that is not verified yet. */
export class HashNeeded extends Error {
  override name = 'HashNeeded';
  readonly plain: readonly string[];
  readonly claim: PasswordClaim | undefined;
  constructor(plain: readonly string[], claim?: PasswordClaim) {
    super('passwords to be hashed or verified before this can be stored');
    this.plain = plain;
    this.claim = claim;
  }
}

/** A claim that was verified, and the result. */
export interface ProvedClaim {
  readonly claim: PasswordClaim;
  readonly proof: PasswordProof;
}

/** The hashes made so far for one request, and its proof. */
export interface PasswordHashes {
  /** Returns the hash of a password, or a placeholder, and notes that it is missing. */
  of(plain: string): string;
  /** Returns the proof of a claim; undefined where it is not verified yet, and notes that it is missing. */
  proofOf(claim: PasswordClaim): PasswordProof | undefined;
  /** Throws HashNeeded if a hash or a proof was missing: the request runs again once it is made. */
  check(): void;
}

/** The hashes and the proof computed outside of the transaction so far. */
export interface MadePasswords {
  readonly hashes: ReadonlyMap<string, string>;
  readonly proved?: ProvedClaim | undefined;
}

/** The hashes and the proof made so far, and a note of those still missing. */
export function createPasswordHashes({ hashes, proved }: MadePasswords): PasswordHashes {
  const missing = new Set<string>();
  let unproved: PasswordClaim | undefined;
  return {
    of(plain) {
      const hash = hashes.get(plain);
      if (hash === undefined) missing.add(plain);
      return hash ?? '';
    },
    proofOf(claim) {
      if (proved !== undefined) return isSame(proved.claim, claim) ? proved.proof : ANOTHER_CLAIM;
      unproved ??= claim;
      return undefined;
    },
    check() {
      if (missing.size > 0 || unproved !== undefined) throw new HashNeeded([...missing], unproved);
    },
  };
}

/** Verifies only one claim per request: a batch must not cause many verifications or allow many guesses at once. */
const ANOTHER_CLAIM: PasswordProof = {
  refused: new Problem('IDENTITY_CURRENT_PASSWORD', 'a batch verifies one currentPassword, and another request of it gave a different one'),
};

function isSame(a: PasswordClaim, b: PasswordClaim): boolean {
  return a.userId === b.userId && a.plain === b.plain;
}
