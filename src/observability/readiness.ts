/** Whether requests can be served now, as `/readyz` says it. */

import type { ModelKeeper } from '../authz/index.ts';
import type { Readiness } from '../http/index.ts';
import type { Database } from '../storage/index.ts';

/** Knows whether requests can be served. */
export interface ReadinessKeeper {
  now(): Promise<Readiness>;
  /** From now on they cannot. */
  stop(): void;
}

/** What it takes to know. */
export interface ReadinessDeps {
  readonly database: Database;
  readonly model: ModelKeeper;
  /** Milliseconds after which it is no longer believed that the record can be written, only because it could be then. */
  readonly trust?: number;
  /** Milliseconds within which the database has to say so. */
  readonly patience?: number;
}

/**
 * Ready is who has an epoch and a record that can be written. Requests prove that as they come. Where none came, a commit is
 * written that changes nothing: an idle replica would otherwise be found out by the first request that is sent to it.
 */
export function createReadiness({ database, model, trust = 5000, patience = 2000 }: ReadinessDeps): ReadinessKeeper {
  let isStopping = false;
  let { commits } = database.figures;
  let provenAt = Number.NEGATIVE_INFINITY;
  let proving: Promise<boolean> | undefined;

  function isProven(): boolean {
    const now = performance.now();
    if (database.figures.commits !== commits) provenAt = now;
    commits = database.figures.commits;
    return now - provenAt < trust;
  }

  /** However many ask, one commit at a time. It may still be under way when the next one asks: then that waits for it too. */
  function prove(): Promise<boolean> {
    proving ??= database.prove().then(() => {
      proving = undefined;
      return true;
    });
    return Promise.race([proving, after(patience)]);
  }

  return {
    async now() {
      if (isStopping) return { ok: false, why: 'the service is shutting down' };
      if (model.epoch() === undefined) return { ok: false, why: 'no policies have been loaded yet' };
      if (database.healthy && !isProven() && !(await prove())) return { ok: false, why: 'the database does not answer' };
      // Read after the probe, which may find that the reason no longer exists.
      const { fault } = database;
      if (fault !== undefined) return { ok: false, why: fault };
      return database.healthy ? { ok: true } : { ok: false, why: 'decisions cannot be recorded' };
    },
    stop() {
      isStopping = true;
    },
  };
}

function after(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(resolve, ms, false).unref());
}
