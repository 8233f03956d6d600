import type { Readiness } from '../http/index.ts';
import type { MetricValues } from '../observability/index.ts';
import { type MonitoringOptions, openMonitor } from '../observability/monitoring.ts';
import { forkWorker } from './fork-worker.ts';
import { createListener } from './listener.ts';
import { createWorkerPool, type WorkerPool, type WorkerProcess } from './worker-pool.ts';

/** How many work, and how they are watched. */
export interface PrimaryOptions {
  readonly workers: number;
  readonly monitor: MonitoringOptions;
  /** Seconds that a worker may take to end. */
  readonly endSeconds: number;
}

/** The process that sees to workers. */
export interface Primary {
  /** Begins. @throws SetupError where a worker does not start, or metrics cannot be shown. */
  start(): Promise<{ readonly url: string; readonly notices: readonly string[] }>;
  /** Replaces one worker after the other. */
  restart(): Promise<void>;
  /** Lets all end what they have begun. */
  close(): Promise<void>;
  /** Ends all at once. */
  kill(): void;
}

/**
 * Leads workers of this program.
 *
 * @param tell Told who comes and goes unasked, a sentence each.
 */
export async function createPrimary(
  { workers: count, monitor, endSeconds }: PrimaryOptions,
  tell: (line: string) => void,
): Promise<Primary> {
  const ledger = await createLedger();
  let isClosing = false;
  const listener = createListener();
  const crew: WorkerPool = createWorkerPool({
    count,
    tell,
    fork: () => listener.add(forkWorker(() => ledger.text(crew.working))),
    onEnd: (worker) => ledger.close(worker),
    endTime: endSeconds * 1000,
  });
  const shown = { text: () => ledger.text(crew.working), ready: () => (isClosing ? CLOSING : readinessOf(crew.working)) };
  let closeMonitor = async (): Promise<void> => undefined;
  return {
    async start() {
      const opened = await openMonitor(monitor, shown);
      closeMonitor = opened.close;
      return { url: await crew.start(), notices: opened.notices };
    },
    restart: () => crew.restart(),
    async close() {
      isClosing = true;
      await Promise.all([crew.end(), listener.close(crew.working)]);
      await closeMonitor();
    },
    kill: () => crew.kill(),
  };
}

const CLOSING: Readiness = { ok: false, why: 'the service is shutting down' };

/** Ready is where somebody works, and nobody who does says no: what is in their way is the same for all, but for when they notice. */
async function readinessOf(working: readonly WorkerProcess[]): Promise<Readiness> {
  const said = await Promise.allSettled(working.map((worker) => worker.readiness()));
  const heard = said.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  return heard.find(({ ok }) => !ok) ?? (heard.length > 0 ? { ok: true } : { ok: false, why: 'no worker takes requests' });
}

/** Figures of workers: of those that work as they say, of one that says nothing as it said last, of those that ended for good. */
interface Ledger {
  text(working: readonly WorkerProcess[]): Promise<string>;
  close(worker: WorkerProcess): void;
}

async function createLedger(): Promise<Ledger> {
  const together = (await import('../observability/index.ts')).createAggregatedMetrics();
  const seen = new WeakMap<WorkerProcess, readonly MetricValues[]>();
  const ended = new WeakSet<WorkerProcess>();
  return {
    async text(working) {
      await Promise.allSettled(working.map(async (worker) => seen.set(worker, await worker.values())));
      // One that ended meanwhile is among what is kept.
      return together.text(working.filter((worker) => !ended.has(worker)).map((worker) => seen.get(worker) ?? []));
    },
    close(worker) {
      ended.add(worker);
      together.keep(worker.last ?? seen.get(worker) ?? []);
    },
  };
}
