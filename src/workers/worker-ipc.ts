/**
 * The messages between the primary and its workers. Each side sends notifications, which get no reply, and requests, which get one.
 */

import cluster from 'node:cluster';
import type { Readiness } from '../http/index.ts';
import type { MetricValues } from '../observability/index.ts';

/**
 * The environment variable that the primary sets for its workers. Its value is the JSON text of the settings that the primary has read from `.env`, and
 * `1` from a primary of an earlier version. It is not a config option.
 */
export const WORKER_ENV = 'WORKER_OF_BAILIWICK';

/** Sends messages to one other process, and receives its messages. */
export interface MessagePort {
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
}

/** The notifications and requests that a process handles, by name. */
export interface MessageHandlers {
  readonly notifications?: Readonly<Record<string, (value: unknown) => void>>;
  readonly requests?: Readonly<Record<string, () => Promise<unknown>>>;
}

/** A connection between two processes of this program. */
export interface IpcChannel {
  notify(name: string, value?: unknown): void;
  /** Returns the reply. Throws if the other process fails, or does not reply in time. */
  request(name: string, timeoutMs?: number): Promise<unknown>;
}

const REPLY_TIMEOUT_MS = 2000;

/**
 * A notification, a request or a reply. Its members, and the names of notifications and requests, must not change: after an update, a
 * primary of the previous version runs workers of this version.
 */
type Message =
  | { readonly say: string; readonly value?: unknown }
  | { readonly ask: string; readonly id: number }
  | { readonly answer: number; readonly value?: unknown; readonly failed?: string };

/** Creates a channel, which handles incoming messages from now on. */
export function createIpcChannel(port: MessagePort, { notifications = {}, requests = {} }: MessageHandlers): IpcChannel {
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;

  async function reply(name: string, id: number): Promise<void> {
    try {
      port.send({ answer: id, value: await requests[name]?.() } satisfies Message);
    } catch (error) {
      port.send({ answer: id, failed: error instanceof Error ? error.message : String(error) } satisfies Message);
    }
  }

  port.onMessage((message) => {
    // Node's own messages between processes arrive here too; they have none of these members.
    const received = message as Partial<{ say: string; ask: string; id: number; answer: number; failed: string; value: unknown }>;
    if (received.say !== undefined) notifications[received.say]?.(received.value);
    else if (received.ask !== undefined) void reply(received.ask, received.id ?? 0);
    else if (received.answer !== undefined) {
      const request = pending.get(received.answer);
      if (received.failed === undefined) request?.resolve(received.value);
      else request?.reject(new Error(received.failed));
    }
  });

  return {
    notify: (name, value) => port.send({ say: name, value } satisfies Message),
    async request(name, timeoutMs = REPLY_TIMEOUT_MS) {
      const id = ++lastId;
      const request = Promise.withResolvers<unknown>();
      const timer = setTimeout(
        () => request.reject(new Error(`the other process did not reply to "${name}" within ${timeoutMs} ms`)),
        timeoutMs,
      );
      pending.set(id, request);
      try {
        port.send({ ask: name, id } satisfies Message);
        return await request.promise;
      } finally {
        clearTimeout(timer);
        pending.delete(id);
      }
    },
  };
}

/** The connection of a worker to the primary. */
export interface PrimaryLink {
  /** The settings that the primary has read from `.env`; undefined from a primary of an earlier version, whose workers read the file themselves. */
  readonly envFile: Readonly<Record<string, string>> | undefined;
  /** Returns the metrics of all workers, in the text format of Prometheus. */
  text(): Promise<string>;
  /** The number of workers that accept requests; undefined until the primary has sent it. */
  readonly working: number | undefined;
  /** Notifies the primary that this worker accepts requests, and sends it the notices of the start, which the primary prints. */
  ready(url: string, notices: readonly string[]): void;
  /** Sets the functions that reply to requests of the primary. */
  handleRequests(handlers: WorkerRequestHandlers): void;
  /** Notifies the primary that this worker can close; resolves when the primary has closed the port, or has exited. */
  released(): Promise<void>;
  /** Sends the last metrics of this worker before it exits. */
  sendFinalMetrics(metrics: readonly MetricValues[]): void;
  /** Calls the listener once, when this worker has to exit; `isReplaced` if a new worker takes its place. */
  onEnd(listener: (end: { readonly isReplaced: boolean }) => void): void;
}

/** The requests that a worker replies to. */
export interface WorkerRequestHandlers {
  metrics(): Promise<readonly MetricValues[]>;
  readiness(): Promise<Readiness>;
  /** Returns the number of connections that the worker has accepted. */
  accepted(): Promise<number>;
}

/** The members of `process` that a worker needs. */
export interface WorkerDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly send?: NodeJS.Process['send'];
  on(event: 'message' | 'disconnect', listener: (message: unknown) => void): unknown;
}

/** Connects a worker to the primary. Returns undefined if this process was not forked by one. */
export function connectToPrimary(own: WorkerDeps): PrimaryLink | undefined {
  if (own.env[WORKER_ENV] === undefined || own.send === undefined) return undefined;
  let handlers: WorkerRequestHandlers | undefined;
  let working: number | undefined;
  const ends = Promise.withResolvers<{ readonly isReplaced: boolean }>();
  const release = Promise.withResolvers<void>();
  const end = (isReplaced: boolean): void => ends.resolve({ isReplaced });
  const channel = createIpcChannel(toPort(own), {
    notifications: {
      end: (value) => end(value === 'replaced'),
      released: () => release.resolve(),
      working: (value) => {
        working = Number(value);
      },
    },
    requests: {
      values: async () => handlers?.metrics() ?? [],
      readiness: async () => handlers?.readiness(),
      accepted: async () => handlers?.accepted() ?? 0,
    },
  });
  // Without the primary a worker receives no more connections and no notification to exit.
  own.on('disconnect', () => {
    end(false);
    release.resolve();
  });
  return {
    envFile: parseEnvFile(own.env[WORKER_ENV]),
    text: async () => String(await channel.request('text')),
    get working() {
      return working;
    },
    ready(url, notices) {
      // By default Node exits a worker at once when the primary exits, which would abort requests in progress.
      if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
      channel.notify('notices', notices);
      channel.notify('ready', url);
    },
    handleRequests(given) {
      handlers = given;
    },
    released() {
      channel.notify('drained');
      return release.promise;
    },
    sendFinalMetrics: (metrics) => channel.notify('last', metrics),
    // A promise, because the notification may arrive before the listener is added.
    onEnd: (listener) => void ends.promise.then(listener),
  };
}

function parseEnvFile(marker: string): PrimaryLink['envFile'] {
  return marker === '1' ? undefined : JSON.parse(marker);
}

function toPort(own: WorkerDeps): MessagePort {
  return {
    // Sending fails if the primary has exited. Without a callback that error would crash the worker; `disconnect` handles the exit.
    send: (message) => void own.send?.(message, undefined, undefined, () => undefined),
    onMessage: (listener) => void own.on('message', listener),
  };
}
