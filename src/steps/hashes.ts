/**
 * Hashing a password takes tens of milliseconds and cannot happen inside a transaction, and must not happen for a
 * caller who is denied. So the work runs first with placeholders; only where it succeeds and a hash was missing
 * is it undone, the hashes made, and run again.
 */

/** Thrown at the end of work that would have stored placeholders. */
export class HashNeeded extends Error {
  override name = 'HashNeeded';
  readonly plain: readonly string[];
  constructor(plain: readonly string[]) {
    super('passwords to be hashed before this can be stored');
    this.plain = plain;
  }
}

/** The hashes made so far for one request. */
export interface PasswordHashes {
  /** The hash of a password, or a placeholder and a note that it is missing. */
  of(plain: string): string;
  /** Throws HashNeeded where a placeholder was handed out. */
  check(): void;
}

/** The hashes `made` so far, and a note of those still missing. */
export function createPasswordHashes(made: ReadonlyMap<string, string>): PasswordHashes {
  const missing = new Set<string>();
  return {
    of(plain) {
      const hash = made.get(plain);
      if (hash === undefined) missing.add(plain);
      return hash ?? '';
    },
    check() {
      if (missing.size > 0) throw new HashNeeded([...missing]);
    },
  };
}
