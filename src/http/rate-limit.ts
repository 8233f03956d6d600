/** Counts requests per caller. */
export interface RateLimiter {
  /** Counts `cost` requests of `key`, of which `paid` were counted before. Gives 0, or the seconds to wait: then nothing was counted. */
  take(key: string, cost: number, paid?: number): number;
}

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/** Callers remembered at once; beyond that, those who have been quiet longest start afresh. */
const MAX_CALLERS = 10_000;

/**
 * A bucket of tokens per caller, filled at `perMinute`. A batch pays for all of its requests, which is why this is not
 * the framework's plugin: that counts calls. One that is larger than the whole bucket waits for a full one and leaves a debt.
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

/** A Map keeps insertion order, and each use inserts anew. */
function forgetOldest(buckets: Map<string, Bucket>): void {
  const oldest = buckets.keys().next();
  if (oldest.done !== true) buckets.delete(oldest.value);
}
