/**
 * A thread that sends small requests at a fixed rate and times them. A request is sent on time even if earlier ones still wait, so that a
 * service that stands still for a second delays a hundred requests and not one.
 */
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

/** The requests to time. */
export interface ProbeData {
  readonly url: string;
  /** Milliseconds between two requests of one kind. */
  readonly interval: number;
  readonly paths: Readonly<Record<string, { readonly path: string; readonly token?: string }>>;
}

/** The duration of each request by name, in milliseconds. A failed request counts as one of infinite duration. */
export type Probed = Readonly<Record<string, readonly number[]>>;

const { url, interval, paths } = workerData as ProbeData;
const { hostname, port } = new URL(url);
const agent = new Agent({ keepAlive: true });
const times: Record<string, number[]> = {};
const waiting = new Set<Promise<void>>();

const timer = setInterval(() => {
  for (const name of Object.keys(paths)) {
    const sent = timeOne(name).finally(() => waiting.delete(sent));
    waiting.add(sent);
  }
}, interval);

parentPort?.once('message', async () => {
  clearInterval(timer);
  await Promise.all(waiting);
  agent.destroy();
  parentPort?.postMessage(times);
});

function timeOne(name: string): Promise<void> {
  const { path, token } = paths[name] as ProbeData['paths'][string];
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const from = performance.now();
  times[name] ??= [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (isAnswered: boolean): void => {
    times[name]?.push(isAnswered ? performance.now() - from : Number.POSITIVE_INFINITY);
    resolve();
  };
  const sent = request({ hostname, port, path, headers, agent }, (answer) => {
    answer.resume();
    answer.once('end', () => done(answer.statusCode === 200));
    answer.once('error', () => done(false));
  });
  sent.once('error', () => done(false));
  sent.end();
  return promise;
}
