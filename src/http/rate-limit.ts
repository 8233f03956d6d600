/** Limits the requests per minute of each key, such as a client address. */
export interface RateLimiter {
  /** Counts `cost` requests of `key`, minus `paid` counted before, and returns 0. Above the limit, counts none and returns seconds to wait. */
  take(key: string, cost: number, paid?: number): number;
}

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/** Maximum keys in memory; above it, the least recently used key is removed. */
const MAX_CALLERS = 10_000;

/**
 * Creates a rate limiter with a token bucket per key. A batch counts as all of its requests, which the plugin of Fastify cannot do. A batch
 * that is larger than the bucket needs a full bucket and leaves a negative number of tokens.
 */
export function createRateLimiter(perMinute: number, now: () => number = () => performance.now()): RateLimiter {
  const buckets = new Map<string, Bucket>();
  const perMillisecond = perMinute / 60_000;

  return {
    take(key, cost, paid = 0) {
      const at = now();
      const bucket = buckets.get(key) ?? { tokens: perMinute, at };
      const tokens = Math.min(perMinute, bucket.tokens + (at - bucket.at) * perMillisecond);
      const missing = Math.min(cost, perMinute) - paid - tokens;
      buckets.delete(key);
      buckets.set(key, { tokens: missing > 0 ? tokens : tokens - (cost - paid), at });
      if (buckets.size > MAX_CALLERS) forgetOldest(buckets);
      return missing > 0 ? missing / perMillisecond / 1000 : 0;
    },
  };
}

/** Removes the least recently used key: the first key of the Map, because each use inserts its key again. */
function forgetOldest(buckets: Map<string, Bucket>): void {
  const oldest = buckets.keys().next();
  if (oldest.done !== true) buckets.delete(oldest.value);
}
