import { toCountedAddress } from '../ip-address.ts';
import type { LoginAttempt } from './login-attempts.ts';

/**
 * The login attempts of this process that were counted, and whose password is being verified. While there are some of an account from an address,
 * a refusal of others says nothing about their passwords: one of the counted attempts may succeed and clear the count.
 */
export class VerifyingAttempts {
  readonly #pairs = new Map<string, Set<LoginAttempt>>();

  /** Returns true if an attempt of the same account from the same address is being verified. */
  has(attempt: LoginAttempt): boolean {
    return this.#pairs.has(toPair(attempt));
  }

  add(attempt: LoginAttempt): void {
    const pair = toPair(attempt);
    const attempts = this.#pairs.get(pair) ?? new Set();
    this.#pairs.set(pair, attempts.add(attempt));
  }

  delete(attempt: LoginAttempt): void {
    const pair = toPair(attempt);
    const attempts = this.#pairs.get(pair);
    attempts?.delete(attempt);
    if (attempts?.size === 0) this.#pairs.delete(pair);
  }
}

function toPair({ account, ip }: LoginAttempt): string {
  return `${toCountedAddress(ip)} ${account}`;
}
