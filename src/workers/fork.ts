import cluster from 'node:cluster';
import { once } from 'node:events';
import type { MetricValues } from '../metrics/index.ts';
import { openChannel } from './channel.ts';
import type { WorkerProcess } from './crew.ts';

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
  const ready = Promise.withResolvers<string | undefined>();
  let last: readonly MetricValues[] | undefined;
  const channel = openChannel(
    {
      // One that has just ended hears nothing any more, and of that its end tells.
      send: (message) => void (worker.isConnected() && worker.send(message as object)),
      onMessage: (listener) => void worker.on('message', listener),
    },
    {
      said: {
        ready: (url) => ready.resolve(String(url)),
        last: (values) => {
          last = values as readonly MetricValues[];
        },
      },
      asked: { text },
    },
  );
  const ended = once(worker, 'exit').then(([code]: readonly (number | null)[]) => code ?? null);
  void ended.then(() => ready.resolve(undefined));
  return {
    ready: ready.promise,
    ended,
    get last() {
      return last;
    },
    values: async () => (await channel.ask('values')) as readonly MetricValues[],
    readiness: async () => (await channel.ask('readiness')) as Awaited<ReturnType<WorkerProcess['readiness']>>,
    end: ({ isReplaced }) => channel.say('end', isReplaced ? 'replaced' : 'all'),
    kill: () => void worker.process.kill('SIGKILL'),
  };
}
