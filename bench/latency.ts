import type { Call } from './load.ts';
import { quantile } from './statistics.ts';

/** Measures the duration of single requests, in milliseconds with fractions, which the load generator does not report. */
export async function timeCalls(url: string, call: Call, seconds: number): Promise<{ value: number; beside: Record<string, number> }> {
  const times: number[] = [];
  const began = performance.now();
  for (let turn = 0; times.length === 0 || performance.now() - began < seconds * 1000; turn++) {
    const { method, path, body } = call.toRequest(turn);
    const from = performance.now();
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: call.headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    await answer.arrayBuffer();
    times.push(performance.now() - from);
    if (!answer.ok) throw new Error(`${method} ${path}: expected success, given ${answer.status}`);
  }
  return { value: quantile(times, 0.5), beside: { 'p99 ms': quantile(times, 0.99) } };
}
