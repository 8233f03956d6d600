/** Tracks whether the last commit succeeded. */
export interface Health {
  readonly isHealthy: boolean;
  set(isGood: boolean): void;
  stop(): void;
}

/** Milliseconds after a failed commit until the next probe. */
const RETRY = 1000;

/**
 * Creates the health state. A load balancer sends no requests to an unhealthy service, so the service probes the database by itself to
 * become healthy again.
 *
 * @param probe Commits a write and calls `set` with its outcome. Never throws.
 */
export function createHealth(probe: () => Promise<void>): Health {
  let isGood = true;
  let stopped = false;
  let retry: NodeJS.Timeout | undefined;
  return {
    get isHealthy() {
      return isGood;
    },
    set(next) {
      isGood = next;
      clearTimeout(retry);
      if (!isGood && !stopped) retry = setTimeout(() => void probe(), RETRY).unref();
    },
    stop() {
      stopped = true;
      clearTimeout(retry);
    },
  };
}
