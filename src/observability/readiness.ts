import type { PolicyStore } from '../authz/index.ts';
import type { Readiness } from '../http/index.ts';
import { type Database, describeDamage } from '../storage/index.ts';

/** The readiness probe: determines whether the service can answer requests, as `/readyz` reports it. */
export interface ReadinessProbe {
  check(): Promise<Readiness>;
  /** Makes every further check negative, because the service shuts down. */
  stop(): void;
}

/** The dependencies of the readiness probe. */
export interface ReadinessDeps {
  readonly database: Database;
  readonly policyStore: PolicyStore;
  /** The free space of the disk; undefined if it is not measured. */
  readonly disk?: { readonly fault: string | undefined } | undefined;
  /** Loads what the first requests need. The first check waits for it, so that a service is ready only after it. */
  readonly prepare?: (() => Promise<void>) | undefined;
  /** Milliseconds for which a successful commit proves that the audit log can be written. */
  readonly trustMs?: number;
  /** Milliseconds after which a probe commit counts as failed: less than the time in which a worker must report its readiness. */
  readonly timeoutMs?: number;
}

/**
 * Creates the readiness probe. The service is ready if policies are loaded and the audit log can be written. Commits of requests prove
 * the latter. Without a recent one, the probe makes a commit that changes nothing; otherwise an idle replica would detect a failure only
 * with the first request sent to it.
 */
export function createReadiness({ database, policyStore, disk, prepare, trustMs = 5000, timeoutMs = 500 }: ReadinessDeps): ReadinessProbe {
  let isStopping = false;
  let { commits } = database.metrics;
  let provenAt = Number.NEGATIVE_INFINITY;
  let proving: Promise<boolean> | undefined;

  function isProven(): boolean {
    const now = performance.now();
    if (database.metrics.commits !== commits) provenAt = now;
    commits = database.metrics.commits;
    return now - provenAt < trustMs;
  }

  /** Makes a probe commit. Concurrent checks share one, even after the timeout of the first check. */
  function prove(): Promise<boolean> {
    proving ??= database.probe().then(() => {
      proving = undefined;
      return true;
    });
    return Promise.race([proving, timeout(timeoutMs)]);
  }

  return {
    async check() {
      if (!isStopping) await prepare?.();
      if (isStopping) return { ok: false, why: 'the service is shutting down' };
      if (policyStore.revision() === undefined) return { ok: false, why: 'no policies have been loaded yet' };
      if (database.healthy && !isProven() && !(await prove())) return { ok: false, why: 'the database does not answer' };
      const [row] = policyStore.damaged();
      if (row !== undefined) return { ok: false, why: `${describeDamage(row)}; run "bailiwick verify"` };
      // The fault is read after the probe commit, which may clear it.
      const { fault } = database;
      if (fault !== undefined) return { ok: false, why: fault };
      if (!database.healthy) return { ok: false, why: 'decisions cannot be recorded' };
      return disk?.fault === undefined ? { ok: true } : { ok: false, why: disk.fault };
    },
    stop() {
      isStopping = true;
    },
  };
}

function timeout(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(resolve, ms, false).unref());
}
