import { LRUCache } from 'lru-cache';
import { toCountedAddress } from '../ip-address.ts';
import type { Throttling } from './login-attempts.ts';

/** Milliseconds in which one attempt from a refused address is counted in the database; all others are counted with it. */
const COUNT_EVERY_MS = 1000;
/** Maximum number of addresses. Attempts from others are counted one by one. */
const MAX_ADDRESSES = 10_000;

interface RefusedAddress {
  /** The times are milliseconds of the monotonic clock. */
  readonly windowEnd: number;
  countAt: number;
  /** The number of refusals that the database has counted. */
  readonly refusals: number;
  /** The number of refusals since then. */
  uncounted: number;
}

/**
 * The addresses from which the database has refused an attempt to log in. Any client can send attempts at no cost, and on PostgreSQL all
 * transactions that count those of one address wait for the same row, each with a connection.
 */
export class RefusedAddresses {
  readonly #addresses = new LRUCache<string, RefusedAddress>({ max: MAX_ADDRESSES });
  readonly #countEveryMs: number;

  constructor({ countEveryMs = COUNT_EVERY_MS } = {}) {
    this.#countEveryMs = countEveryMs;
  }

  /** Refuses an attempt without the database; returns undefined if the database is to count it. */
  refuse(ip: string): Throttling | undefined {
    const known = this.#addresses.get(toCountedAddress(ip));
    const now = performance.now();
    if (known === undefined || now >= known.windowEnd) return undefined;
    if (now >= known.countAt) {
      known.countAt = now + this.#countEveryMs;
      return undefined;
    }
    known.uncounted++;
    const retryAfter = Math.ceil((known.windowEnd - now) / 1000);
    return { retryAfter, refusals: known.refusals + known.uncounted, isAddressRefused: true };
  }

  /** Returns the number of refusals that the next attempt counts with itself. */
  takeUncounted(ip: string): number {
    const known = this.#addresses.get(toCountedAddress(ip));
    if (known === undefined) return 0;
    const { uncounted } = known;
    known.uncounted = 0;
    return uncounted;
  }

  /** Notes the answer of the database to an attempt. */
  note(ip: string, throttling: Throttling | undefined): void {
    const address = toCountedAddress(ip);
    if (throttling?.isAddressRefused !== true) return void this.#addresses.delete(address);
    const now = performance.now();
    const { refusals, retryAfter } = throttling;
    const uncounted = this.#addresses.get(address)?.uncounted ?? 0;
    this.#addresses.set(address, { windowEnd: now + retryAfter * 1000, countAt: now + this.#countEveryMs, refusals, uncounted });
  }
}
