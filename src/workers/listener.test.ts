import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createListener } from './listener.ts';
import type { WorkerProcess } from './worker-pool.ts';

function createPuppet(told: string[], name: string) {
  const drained = Promise.withResolvers<void>();
  const puppet = { accepted: 0, drains: () => drained.resolve() };
  const worker: WorkerProcess = {
    ready: Promise.resolve('http://localhost:1'),
    ended: new Promise(() => undefined),
    drained: drained.promise,
    last: undefined,
    values: async () => [],
    readiness: async () => ({ ok: true }),
    accepted: async () => puppet.accepted,
    release: () => void told.push(`${name} released`),
    disconnect: () => void told.push(`${name} disconnected`),
    end: () => undefined,
    kill: () => undefined,
  };
  return Object.assign(puppet, { worker });
}

it('lets a worker that ends alone close at once', async () => {
  const told: string[] = [];
  const one = createPuppet(told, 'one');
  createListener().add(one.worker);
  one.drains();
  await expect.poll(() => told).toEqual(['one released']);
});

it('closes once all workers are drained and the last one is handed no more connections', async () => {
  const told: string[] = [];
  const [one, two] = [createPuppet(told, 'one'), createPuppet(told, 'two')];
  const listener = createListener();
  const working = [listener.add(one.worker), listener.add(two.worker)];
  const closed = listener.close(working);
  one.drains();
  await pause(50);
  expect(told).toEqual([]);
  two.drains();
  for (let count = 0; count < 10; count++) {
    two.accepted++;
    await pause(5);
  }
  expect(told).toEqual(['one disconnected']);
  await closed;
  await expect.poll(() => told).toEqual(['one disconnected', 'two disconnected', 'one released', 'two released']);
});
