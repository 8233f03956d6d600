import cluster from 'node:cluster';
import type { Readiness } from '../http/index.ts';
import type { MetricValues } from '../observability/index.ts';
import { MARK } from './fork-worker.ts';
import { type Line, openChannel } from './worker-channel.ts';

/** What a worker has of the lead. */
export interface PrimaryLink {
  /** Metrics of all workers, as text. */
  text(): Promise<string>;
  /** Says that requests are taken now. */
  ready(url: string): void;
  /** Answers what the lead asks from now on. */
  answer(asked: WorkerAnswers): void;
  /** Tells the lead that this worker could close; resolves once the lead has closed the listener, or is gone. */
  released(): Promise<void>;
  /** Leaves the last figures with the lead. */
  leave(values: readonly MetricValues[]): void;
  /** Told once: that this worker is to end, and whether only because another takes its place. */
  onEnd(listener: (end: { readonly isReplaced: boolean }) => void): void;
}

/** What a lead asks a worker. */
export interface WorkerAnswers {
  values(): Promise<readonly MetricValues[]>;
  readiness(): Promise<Readiness>;
  /** Number of connections accepted so far. */
  accepted(): Promise<number>;
}

/** The process around us, as far as it is needed. */
export interface WorkerDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly send?: NodeJS.Process['send'];
  on(event: 'message' | 'disconnect', listener: (message: unknown) => void): unknown;
}

/** The link of a worker to its lead; undefined where this process is none. Whoever else forked us is no lead of ours. */
export function connectToPrimary(world: WorkerDeps): PrimaryLink | undefined {
  if (world.env[MARK] === undefined || world.send === undefined) return undefined;
  let answers: WorkerAnswers | undefined;
  const ends = Promise.withResolvers<{ readonly isReplaced: boolean }>();
  const release = Promise.withResolvers<void>();
  const end = (isReplaced: boolean): void => ends.resolve({ isReplaced });
  const line: Line = {
    // A lead that is gone hears nothing, and that it is gone we hear; unheard, the failure would end us before what is in flight.
    send: (message) => void world.send?.(message, undefined, undefined, () => undefined),
    onMessage: (listener) => void world.on('message', listener),
  };
  const channel = openChannel(line, {
    said: { end: (value) => end(value === 'replaced'), released: () => release.resolve() },
    asked: {
      values: async () => answers?.values() ?? [],
      readiness: async () => answers?.readiness(),
      accepted: async () => answers?.accepted() ?? 0,
    },
  });
  // Without a lead there is nobody who would hand over connections, and nobody who would end us.
  world.on('disconnect', () => {
    end(false);
    release.resolve();
  });
  return {
    text: async () => String(await channel.ask('text')),
    ready(url) {
      // Where the lead is gone Node would end us at once, and from now on what is in flight with us.
      if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
      channel.say('ready', url);
    },
    answer(asked) {
      answers = asked;
    },
    released() {
      channel.say('drained');
      return release.promise;
    },
    leave: (values) => channel.say('last', values),
    // It may have been said before anybody listened.
    onEnd: (listener) => void ends.promise.then(listener),
  };
}
