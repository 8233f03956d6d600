/** Whether the last commit worked. */
export interface Health {
  readonly isHealthy: boolean;
  set(isGood: boolean): void;
  stop(): void;
}

/** Milliseconds after which a database that could not commit is tried again without being asked. */
const RETRY = 1000;

/**
 * Whoever routes requests by it sends none to an unhealthy service, so that has to find out by itself when it is well again.
 *
 * @param probe Has a commit written, and sets what came of it. Never throws.
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
