import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createListener } from './listener.ts';
import type { WorkerProcess } from './worker-pool.ts';

/** Connections that wait in the accept queue. */
const WAITING = 100;

function createFakeWorker(calls: string[], name: string) {
  const drained = Promise.withResolvers<void>();
  const fake = { accepted: 0, drains: () => drained.resolve() };
  const worker: WorkerProcess = {
    pid: undefined,
    ready: Promise.resolve('http://localhost:1'),
    ended: new Promise(() => undefined),
    drained: drained.promise,
    finalMetrics: undefined,
    metrics: async () => [],
    readiness: async () => ({ ok: true }),
    accepted: async () => fake.accepted,
    announce: () => undefined,
    release: () => void calls.push(`${name} released`),
    disconnect: () => void calls.push(`${name} disconnected`),
    end: () => undefined,
    kill: () => undefined,
  };
  return Object.assign(fake, { worker });
}

it('releases a worker at once if it drains while the port is open', async () => {
  const calls: string[] = [];
  const one = createFakeWorker(calls, 'one');
  createListener().add(one.worker);
  one.drains();
  await expect.poll(() => calls).toEqual(['one released']);
});

it('the listener closes when all workers are drained and the last one receives no more connections', async () => {
  const calls: string[] = [];
  const [one, two] = [createFakeWorker(calls, 'one'), createFakeWorker(calls, 'two')];
  const listener = createListener();
  const working = [listener.add(one.worker), listener.add(two.worker)];
  const closed = listener.close(working);
  one.drains();
  await pause(50);
  expect(calls).toEqual([]);
  two.drains();
  for (let count = 0; count < 10; count++) {
    two.accepted++;
    await pause(5);
  }
  expect(calls).toEqual(['one disconnected']);
  await closed;
  await expect.poll(() => calls).toEqual(['one disconnected', 'two disconnected', 'one released', 'two released']);
});

it('the listener closes only after the connections that waited, even if the machine is so busy that they take longer than its limit', async () => {
  const calls: string[] = [];
  const one = createFakeWorker(calls, 'one');
  // Each check finds another connection, and the first takes longer than the listener waits for connections that never pause.
  let isFirst = true;
  const accepted = async (): Promise<number> => {
    if (isFirst) await pause(2100);
    isFirst = false;
    one.accepted = Math.min(one.accepted + 1, WAITING);
    return one.accepted;
  };
  const listener = createListener();
  const closed = listener.close([listener.add({ ...one.worker, accepted })]);
  one.drains();
  await closed;
  expect(one.accepted).toBe(WAITING);
});
