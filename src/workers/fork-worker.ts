import cluster, { type Worker } from 'node:cluster';
import type { MetricValues } from '../observability/index.ts';
import { openChannel } from './worker-channel.ts';
import type { WorkerProcess } from './worker-pool.ts';

/** In the environment of a worker. Not a setting: nobody but a lead gives it. */
export const MARK = 'WORKER_OF_BAILIWICK';

/**
 * Starts this program once more, with the same arguments, as a worker: it listens where we would, and connections are handed to one
 * worker after the other.
 *
 * @param text Metrics of all workers, for one that is asked for them.
 */
export function forkWorker(text: () => Promise<string>): WorkerProcess {
  const worker = cluster.fork({ [MARK]: '1' });
  const ended = endOf(worker);
  const ready = Promise.withResolvers<string | undefined>();
  const drained = Promise.withResolvers<void>();
  let last: readonly MetricValues[] | undefined;
  const channel = openChannel(
    {
      // One that has just ended hears nothing any more, and of that its end tells; unheard, the failure would end us.
      send: (message) => void (worker.isConnected() && worker.send(message as object, () => undefined)),
      onMessage: (listener) => void worker.on('message', listener),
    },
    {
      said: {
        ready: (url) => ready.resolve(String(url)),
        drained: () => drained.resolve(),
        last: (values) => {
          last = values as readonly MetricValues[];
        },
      },
      asked: { text },
    },
  );
  void ended.then(() => {
    ready.resolve(undefined);
    drained.resolve();
  });
  return {
    ready: ready.promise,
    ended,
    drained: drained.promise,
    get last() {
      return last;
    },
    values: async () => (await channel.ask('values')) as readonly MetricValues[],
    readiness: async () => (await channel.ask('readiness')) as Awaited<ReturnType<WorkerProcess['readiness']>>,
    accepted: async () => Number(await channel.ask('accepted')),
    release: () => channel.say('released'),
    // Takes the worker off the listener in this turn already; the last one taken off closes it.
    disconnect: () => void worker.disconnect(),
    end: ({ isReplaced }) => channel.say('end', isReplaced ? 'replaced' : 'all'),
    kill: () => void worker.process.kill('SIGKILL'),
  };
}

/** Its exit code, once it has ended; null where a signal ended it, or it never began. */
function endOf(worker: Worker): Promise<number | null> {
  return new Promise((resolve) => {
    worker.once('exit', (code: number | null) => resolve(code));
    // One that the system has no room for has no number, and no other end than this.
    worker.on('error', () => worker.process.pid === undefined && resolve(null));
  });
}
