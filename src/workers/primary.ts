import type { Readiness } from '../http/index.ts';
import type { MetricValues } from '../observability/index.ts';
import { type MonitoringOptions, openMonitoringServer } from '../observability/monitoring.ts';
import { forkWorker } from './fork-worker.ts';
import { createListener } from './listener.ts';
import { createWorkerPool, type WorkerPool, type WorkerProcess } from './worker-pool.ts';

/** The options of a primary. */
export interface PrimaryOptions {
  readonly workers: number;
  readonly monitor: MonitoringOptions;
  /** Seconds after which a worker that does not exit is killed. */
  readonly endSeconds: number;
  /** The settings that this process has read from `.env`, for its workers. */
  readonly envFile: Readonly<Record<string, string>>;
}

/** The process that starts and replaces workers. */
export interface Primary {
  /** Starts the workers and the metrics address. The notices include those of the workers. @throws SetupError if a worker or the metrics address cannot be started. */
  start(): Promise<{ readonly url: string; readonly notices: readonly string[] }>;
  /** Replaces all workers, one after the other. */
  restart(): Promise<void>;
  /** Stops all workers after their requests in progress, and closes the metrics address. */
  close(): Promise<void>;
  /** Kills all workers. */
  kill(): void;
}

/**
 * Creates the primary of this program.
 *
 * @param log Called with a sentence when a worker exits unexpectedly or all have been replaced, and with the notices of workers that replace others.
 */
export async function createPrimary(
  { workers: count, monitor, endSeconds, envFile }: PrimaryOptions,
  log: (line: string) => void,
): Promise<Primary> {
  const metrics = await createPoolMetrics();
  const notices = createWorkerNotices(log);
  let isClosing = false;
  const listener = createListener();
  const pool: WorkerPool = createWorkerPool({
    count,
    log,
    fork: () => listener.add(forkWorker({ text: () => metrics.text(pool.working), envFile, onNotices: notices.add })),
    onEnd: (worker) => metrics.addEnded(worker),
    endTimeout: endSeconds * 1000,
  });
  const source = { text: () => metrics.text(pool.working), ready: () => (isClosing ? CLOSING : readinessOf(pool)) };
  let closeMonitor = async (): Promise<void> => undefined;
  return {
    async start() {
      const opened = await openMonitoringServer(monitor, source);
      closeMonitor = opened.close;
      const url = await pool.start();
      return { url, notices: [...opened.notices, ...notices.finishStart()] };
    },
    restart() {
      notices.forget();
      return pool.restart();
    },
    async close() {
      isClosing = true;
      await Promise.all([pool.end(), listener.close(pool.working)]);
      await closeMonitor();
    },
    kill: () => pool.kill(),
  };
}

/** The notices of workers. All workers can have the same notice, which is needed once for each start and restart. */
interface WorkerNotices {
  add(notices: readonly string[]): void;
  /** Returns the distinct notices so far. From now on, `add` logs them. */
  finishStart(): readonly string[];
  forget(): void;
}

function createWorkerNotices(log: (line: string) => void): WorkerNotices {
  const known = new Set<string>();
  let hasStarted = false;
  return {
    add(notices) {
      const others = notices.filter((notice) => !known.has(notice));
      for (const notice of others) {
        known.add(notice);
        if (hasStarted) log(notice);
      }
    },
    finishStart() {
      hasStarted = true;
      return [...known];
    },
    forget: () => known.clear(),
  };
}

const CLOSING: Readiness = { ok: false, why: 'the service is shutting down' };

/**
 * Returns the readiness of the service: ready if there are workers that accept requests, all of them reply, and no reply is negative. One negative
 * reply is enough, because all workers share the database: the others will notice the same fault later. A worker that does not reply still receives
 * its share of the connections.
 */
async function readinessOf(pool: Pick<WorkerPool, 'working'>): Promise<Readiness> {
  const asked = pool.working;
  const results = await Promise.allSettled(asked.map((worker) => worker.readiness()));
  const replies = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const negative = replies.find(({ ok }) => !ok);
  if (negative !== undefined) return negative;
  // A worker that has exited meanwhile receives no more connections.
  const silent = asked.find((worker, index) => results[index]?.status === 'rejected' && pool.working.includes(worker));
  if (silent !== undefined) return { ok: false, why: `worker ${silent.pid} does not reply` };
  return replies.length > 0 ? { ok: true } : { ok: false, why: 'no worker accepts requests' };
}

/** The metrics of all workers: current ones, the last known ones of a worker that does not reply, and the final ones of those that exited. */
interface PoolMetrics {
  text(working: readonly WorkerProcess[]): Promise<string>;
  addEnded(worker: WorkerProcess): void;
}

async function createPoolMetrics(): Promise<PoolMetrics> {
  const aggregated = (await import('../observability/index.ts')).createAggregatedMetrics();
  const lastKnown = new WeakMap<WorkerProcess, readonly MetricValues[]>();
  const ended = new WeakSet<WorkerProcess>();
  return {
    async text(working) {
      await Promise.allSettled(working.map(async (worker) => lastKnown.set(worker, await worker.metrics())));
      // A worker that exited while the others replied is in `aggregated` already.
      return aggregated.text(working.filter((worker) => !ended.has(worker)).map((worker) => lastKnown.get(worker) ?? []));
    },
    addEnded(worker) {
      ended.add(worker);
      aggregated.addEnded(worker.finalMetrics ?? lastKnown.get(worker) ?? []);
    },
  };
}
