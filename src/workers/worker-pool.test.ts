import { describe, expect, it } from 'vitest';
import { createWorkerPool, type WorkerPool, type WorkerProcess } from './worker-pool.ts';

/** A worker that the test controls. */
interface FakeWorker {
  readonly worker: WorkerProcess;
  becomesReady(): void;
  dies(code: number | null): void;
  /** The calls of the pool: `end`, `replaced`, `kill`. */
  readonly calls: string[];
  /** The numbers that the pool has sent: of workers that accept requests. */
  readonly announced: readonly number[];
}

interface TestPool {
  readonly pool: WorkerPool;
  /** In the order in which they were started. */
  readonly workers: readonly FakeWorker[];
  readonly lines: readonly string[];
  readonly ended: readonly WorkerProcess[];
}

function createFakeWorker(): FakeWorker {
  const ready = Promise.withResolvers<string | undefined>();
  const ended = Promise.withResolvers<number | null>();
  const calls: string[] = [];
  const announced: number[] = [];
  const dies = (code: number | null): void => {
    ready.resolve(undefined);
    ended.resolve(code);
  };
  return {
    calls,
    announced,
    dies,
    becomesReady: () => ready.resolve('http://localhost:1'),
    worker: {
      pid: undefined,
      ready: ready.promise,
      ended: ended.promise,
      drained: ended.promise.then(() => undefined),
      finalMetrics: undefined,
      metrics: async () => [],
      readiness: async () => ({ ok: true }),
      accepted: async () => 0,
      announce: (working) => void announced.push(working),
      release: () => undefined,
      disconnect: () => undefined,
      end: ({ isReplaced }) => void calls.push(isReplaced ? 'replaced' : 'end'),
      kill() {
        calls.push('kill');
        dies(null);
      },
    },
  };
}

function createTestPool(endTimeout = 60_000): TestPool {
  const workers: FakeWorker[] = [];
  const lines: string[] = [];
  const ended: WorkerProcess[] = [];
  const pool = createWorkerPool({
    count: 2,
    fork() {
      const fake = createFakeWorker();
      workers.push(fake);
      return fake.worker;
    },
    log: (line) => void lines.push(line),
    onEnd: (worker) => void ended.push(worker),
    endTimeout,
    backOff: 1,
  });
  return { pool, workers, lines, ended };
}

async function startTestPool(endTimeout?: number): Promise<TestPool> {
  const test = createTestPool(endTimeout);
  const started = test.pool.start();
  for (const fake of test.workers) fake.becomesReady();
  expect(await started).toBe('http://localhost:1');
  return test;
}

const workerOf = ({ workers }: TestPool, index: number): FakeWorker => workers[index] as FakeWorker;
const workingOf = ({ pool, workers }: TestPool): readonly number[] =>
  pool.working.map((each) => workers.findIndex(({ worker }) => worker === each));

describe('a worker pool', () => {
  it('the pool fails to start if a worker exits before it accepts requests', async () => {
    const test = createTestPool();
    const started = test.pool.start();
    workerOf(test, 0).becomesReady();
    workerOf(test, 1).dies(2);
    await expect(started).rejects.toThrow(/failed to start/);
    expect(test.workers).toHaveLength(2);
  });

  it('replaces a worker that dies while the others start', async () => {
    const test = createTestPool();
    const started = test.pool.start();
    workerOf(test, 0).becomesReady();
    await expect.poll(() => test.pool.working.length).toBe(1);
    workerOf(test, 0).dies(null);
    await expect.poll(() => test.ended.length).toBe(1);
    workerOf(test, 1).becomesReady();
    await started;
    expect(test.lines).toEqual(['a worker exited during the start; a replacement starts now']);
    workerOf(test, 2).becomesReady();
    await expect.poll(() => workingOf(test)).toEqual([1, 2]);
  });

  it('replaces a worker that dies, waiting twice as long each time', async () => {
    const test = await startTestPool();
    workerOf(test, 0).dies(null);
    await expect.poll(() => test.workers.length).toBe(3);
    workerOf(test, 2).dies(1);
    await expect.poll(() => test.workers.length).toBe(4);
    workerOf(test, 3).becomesReady();
    await expect.poll(() => workingOf(test)).toEqual([1, 3]);
    expect(test.lines).toEqual([
      'a worker exited; a replacement starts in 1 ms',
      'a worker exited with code 1; a replacement starts in 2 ms',
    ]);
    expect(test.ended).toHaveLength(2);
  });

  it('sends the number of workers that accept requests to each of them whenever it changes', async () => {
    const test = await startTestPool();
    expect(workerOf(test, 1).announced.at(-1)).toBe(2);
    workerOf(test, 0).dies(null);
    await expect.poll(() => workerOf(test, 1).announced.at(-1)).toBe(1);
    await expect.poll(() => test.workers.length).toBe(3);
    expect(workerOf(test, 2).announced).toEqual([]);
    workerOf(test, 2).becomesReady();
    await expect.poll(() => [1, 2].map((index) => workerOf(test, index).announced.at(-1))).toEqual([2, 2]);
  });

  it('restarts the workers one after the other, each once its replacement accepts requests', async () => {
    const test = await startTestPool();
    const restarted = test.pool.restart();
    await expect.poll(() => test.workers.length).toBe(3);
    expect(workerOf(test, 0).calls).toEqual([]);
    workerOf(test, 2).becomesReady();
    await expect.poll(() => workerOf(test, 0).calls).toEqual(['replaced']);
    expect(test.workers).toHaveLength(3);
    workerOf(test, 0).dies(0);
    await expect.poll(() => test.workers.length).toBe(4);
    workerOf(test, 3).becomesReady();
    await expect.poll(() => workerOf(test, 1).calls).toEqual(['replaced']);
    workerOf(test, 1).dies(0);
    await restarted;
    expect([workingOf(test), test.lines]).toEqual([[2, 3], ['all workers have been replaced']]);
  });

  it('the pool keeps its workers if a replacement fails to start', async () => {
    const test = await startTestPool();
    const restarted = test.pool.restart();
    await expect.poll(() => test.workers.length).toBe(3);
    workerOf(test, 2).dies(2);
    await restarted;
    expect([workingOf(test), test.lines]).toEqual([[0, 1], ['a new worker failed to start; the existing workers keep running']]);
    expect(workerOf(test, 0).calls).toEqual([]);
    workerOf(test, 0).dies(null);
    await expect.poll(() => test.workers.length).toBe(4);
  });

  it('starts a replacement if a worker dies while it is being replaced', async () => {
    const test = await startTestPool();
    const restarted = test.pool.restart();
    await expect.poll(() => test.workers.length).toBe(3);
    workerOf(test, 0).dies(null);
    workerOf(test, 2).dies(2);
    await restarted;
    await expect.poll(() => test.workers.length).toBe(4);
    workerOf(test, 3).becomesReady();
    await expect.poll(() => workingOf(test)).toEqual([1, 3]);
  });

  it('replaces a worker that dies before its turn only once', async () => {
    const test = await startTestPool();
    void test.pool.restart();
    await expect.poll(() => test.workers.length).toBe(3);
    workerOf(test, 1).dies(null);
    await expect.poll(() => test.workers.length).toBe(4);
    for (const index of [2, 3]) workerOf(test, index).becomesReady();
    await expect.poll(() => workerOf(test, 0).calls).toEqual(['replaced']);
    workerOf(test, 0).dies(0);
    await expect.poll(() => test.lines.at(-1)).toBe('all workers have been replaced');
    expect(workingOf(test)).toEqual([2, 3]);
  });

  it('replaces all workers again if a restart is requested while they are replaced', async () => {
    const test = await startTestPool();
    const restarted = test.pool.restart();
    await expect.poll(() => test.workers.length).toBe(3);
    const again = test.pool.restart();
    for (const replaced of [0, 1, 2, 3]) {
      await expect.poll(() => test.workers.length).toBe(replaced + 3);
      workerOf(test, replaced + 2).becomesReady();
      await expect.poll(() => workerOf(test, replaced).calls).toEqual(['replaced']);
      workerOf(test, replaced).dies(0);
    }
    await Promise.all([restarted, again]);
    expect([workingOf(test), test.lines]).toEqual([
      [4, 5],
      ['all workers have been replaced', 'all workers have been replaced'],
    ]);
  });

  it('the pool ends when all workers have exited, and starts no more', async () => {
    const test = await startTestPool();
    const ended = test.pool.end();
    expect(test.workers.map(({ calls }) => calls)).toEqual([['end'], ['end']]);
    for (const fake of test.workers) fake.dies(0);
    await ended;
    expect([test.workers.length, test.lines]).toEqual([2, []]);
  });

  it('kills a worker that does not exit in time', async () => {
    const test = await startTestPool(1);
    await test.pool.end();
    expect(workerOf(test, 0).calls).toEqual(['end', 'kill']);
  });
});
