import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { quantile } from '../statistics.ts';
import type { ProbeData, Probed } from './probe-thread.ts';

/** Latencies of one kind of request, in milliseconds. */
export interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Requests that are timed at a fixed rate, in a thread of their own, so that nothing else delays the clock. */
export interface Probe {
  /** Stops, waits for the last responses and returns the latencies by name. */
  stop(): Promise<ReadonlyMap<string, Latencies>>;
}

/** Starts to time requests. */
export async function startProbe(data: ProbeData): Promise<Probe> {
  const thread = new Worker(new URL('probe-thread.ts', import.meta.url), { workerData: data });
  await once(thread, 'online');
  return {
    async stop() {
      thread.postMessage('stop');
      const [probed] = (await once(thread, 'message')) as [Probed];
      await thread.terminate();
      return new Map(Object.entries(probed).map(([name, times]) => [name, toLatencies(times)]));
    },
  };
}

function toLatencies(times: readonly number[]): Latencies {
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), max: Math.max(...times) };
}
