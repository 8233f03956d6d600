import cluster, { type Worker } from 'node:cluster';
import type { MetricValues } from '../observability/index.ts';
import { createIpcChannel, WORKER_ENV } from './worker-ipc.ts';
import type { WorkerProcess } from './worker-pool.ts';

/**
 * Milliseconds in which a worker must report its readiness: more than `timeoutMs` of its readiness probe, so that it can report that the database does
 * not answer, and less than the second that Kubernetes waits for a probe by default.
 */
const READINESS_TIMEOUT_MS = 800;

/** The options of a worker. */
export interface ForkOptions {
  /** Returns the metrics of all workers in the text format of Prometheus, for a worker that serves `/metrics`. */
  text(): Promise<string>;
  /** The settings that this process has read from `.env`. The worker uses them, because the file may have changed since. */
  readonly envFile: Readonly<Record<string, string>>;
  /** Receives the notices of the start of the worker, before the worker is ready. */
  onNotices(notices: readonly string[]): void;
}

/**
 * Forks this program with the same arguments as a worker. Workers share the listening port: the primary accepts connections and hands
 * them to the workers in turn.
 */
export function forkWorker({ text, envFile, onNotices }: ForkOptions): WorkerProcess {
  const worker = cluster.fork({ [WORKER_ENV]: JSON.stringify(envFile) });
  const ended = exitCodeOf(worker);
  const ready = Promise.withResolvers<string | undefined>();
  const drained = Promise.withResolvers<void>();
  let finalMetrics: readonly MetricValues[] | undefined;
  const channel = createIpcChannel(
    {
      // Sending to a worker that has just exited fails. Without a callback that error would crash the primary; `ended` reports the exit.
      send: (message) => void (worker.isConnected() && worker.send(message as object, () => undefined)),
      onMessage: (listener) => void worker.on('message', listener),
    },
    {
      notifications: {
        notices: (notices) => onNotices(notices as readonly string[]),
        ready: (url) => ready.resolve(String(url)),
        drained: () => drained.resolve(),
        last: (metrics) => {
          finalMetrics = metrics as readonly MetricValues[];
        },
      },
      requests: { text },
    },
  );
  void ended.then(() => {
    ready.resolve(undefined);
    drained.resolve();
  });
  return {
    pid: worker.process.pid,
    ready: ready.promise,
    ended,
    drained: drained.promise,
    get finalMetrics() {
      return finalMetrics;
    },
    metrics: async () => (await channel.request('values')) as readonly MetricValues[],
    readiness: async () => (await channel.request('readiness', READINESS_TIMEOUT_MS)) as Awaited<ReturnType<WorkerProcess['readiness']>>,
    accepted: async () => Number(await channel.request('accepted')),
    announce: (working) => channel.notify('working', working),
    release: () => channel.notify('released'),
    // Node removes the worker from the listener in this turn of the event loop; removing the last one closes the listener.
    disconnect: () => void worker.disconnect(),
    end: ({ isReplaced }) => channel.notify('end', isReplaced ? 'replaced' : 'all'),
    kill: () => void worker.process.kill('SIGKILL'),
  };
}

/** Resolves to the exit code of a worker; null if a signal ended it, or if it could not be started. */
function exitCodeOf(worker: Worker): Promise<number | null> {
  return new Promise((resolve) => {
    worker.once('exit', (code: number | null) => resolve(code));
    // A process that could not be started has no pid and emits no `exit`.
    worker.on('error', () => worker.process.pid === undefined && resolve(null));
  });
}
