import { describe, expect, it } from 'vitest';
import { createWorkerPool, type WorkerPool, type WorkerProcess } from './worker-pool.ts';

/** A worker that does what the test says. */
interface Puppet {
  readonly worker: WorkerProcess;
  takesRequests(): void;
  dies(code: number | null): void;
  /** What it was told: `end`, `replaced`, `kill`. */
  readonly told: string[];
}

interface Stage {
  readonly crew: WorkerPool;
  /** In the order in which they were started. */
  readonly puppets: readonly Puppet[];
  readonly lines: readonly string[];
  readonly ended: readonly WorkerProcess[];
}

function createPuppet(): Puppet {
  const ready = Promise.withResolvers<string | undefined>();
  const ended = Promise.withResolvers<number | null>();
  const told: string[] = [];
  const dies = (code: number | null): void => {
    ready.resolve(undefined);
    ended.resolve(code);
  };
  return {
    told,
    dies,
    takesRequests: () => ready.resolve('http://localhost:1'),
    worker: {
      ready: ready.promise,
      ended: ended.promise,
      drained: ended.promise.then(() => undefined),
      last: undefined,
      values: async () => [],
      readiness: async () => ({ ok: true }),
      accepted: async () => 0,
      release: () => undefined,
      disconnect: () => undefined,
      end: ({ isReplaced }) => void told.push(isReplaced ? 'replaced' : 'end'),
      kill() {
        told.push('kill');
        dies(null);
      },
    },
  };
}

function createStage(endTime = 60_000): Stage {
  const puppets: Puppet[] = [];
  const lines: string[] = [];
  const ended: WorkerProcess[] = [];
  const crew = createWorkerPool({
    count: 2,
    fork() {
      const puppet = createPuppet();
      puppets.push(puppet);
      return puppet.worker;
    },
    tell: (line) => void lines.push(line),
    onEnd: (worker) => void ended.push(worker),
    endTime,
    backOff: 1,
  });
  return { crew, puppets, lines, ended };
}

async function startStage(endTime?: number): Promise<Stage> {
  const stage = createStage(endTime);
  const started = stage.crew.start();
  for (const puppet of stage.puppets) puppet.takesRequests();
  expect(await started).toBe('http://localhost:1');
  return stage;
}

const puppetOf = ({ puppets }: Stage, index: number): Puppet => puppets[index] as Puppet;
const workingOf = ({ crew, puppets }: Stage): readonly number[] =>
  crew.working.map((each) => puppets.findIndex(({ worker }) => worker === each));

describe('a crew', () => {
  it('has not started where one ends before it takes requests', async () => {
    const stage = createStage();
    const started = stage.crew.start();
    puppetOf(stage, 0).takesRequests();
    puppetOf(stage, 1).dies(2);
    await expect(started).rejects.toThrow('a worker did not start; what it said stands above');
    expect(stage.puppets).toHaveLength(2);
  });

  it('replaces who dies, waiting twice as long each time', async () => {
    const stage = await startStage();
    puppetOf(stage, 0).dies(null);
    await expect.poll(() => stage.puppets.length).toBe(3);
    puppetOf(stage, 2).dies(1);
    await expect.poll(() => stage.puppets.length).toBe(4);
    puppetOf(stage, 3).takesRequests();
    await expect.poll(() => workingOf(stage)).toEqual([1, 3]);
    expect(stage.lines).toEqual([
      'a worker has ended; another one is started in 1 ms',
      'a worker has ended with 1; another one is started in 2 ms',
    ]);
    expect(stage.ended).toHaveLength(2);
  });

  it('restarts one after the other, each once a new one takes requests', async () => {
    const stage = await startStage();
    const restarted = stage.crew.restart();
    const again = stage.crew.restart();
    await expect.poll(() => stage.puppets.length).toBe(3);
    expect(puppetOf(stage, 0).told).toEqual([]);
    puppetOf(stage, 2).takesRequests();
    await expect.poll(() => puppetOf(stage, 0).told).toEqual(['replaced']);
    expect(stage.puppets).toHaveLength(3);
    puppetOf(stage, 0).dies(0);
    await expect.poll(() => stage.puppets.length).toBe(4);
    puppetOf(stage, 3).takesRequests();
    await expect.poll(() => puppetOf(stage, 1).told).toEqual(['replaced']);
    puppetOf(stage, 1).dies(0);
    await Promise.all([restarted, again]);
    expect([workingOf(stage), stage.lines]).toEqual([[2, 3], ['all workers are new']]);
  });

  it('stays as it was where a new one does not start', async () => {
    const stage = await startStage();
    const restarted = stage.crew.restart();
    await expect.poll(() => stage.puppets.length).toBe(3);
    puppetOf(stage, 2).dies(2);
    await restarted;
    expect([workingOf(stage), stage.lines]).toEqual([[0, 1], ['a new worker did not start; those before it go on']]);
    expect(puppetOf(stage, 0).told).toEqual([]);
    puppetOf(stage, 0).dies(null);
    await expect.poll(() => stage.puppets.length).toBe(4);
  });

  it('is as many as before where one dies while its place is being taken', async () => {
    const stage = await startStage();
    const restarted = stage.crew.restart();
    await expect.poll(() => stage.puppets.length).toBe(3);
    puppetOf(stage, 0).dies(null);
    puppetOf(stage, 2).dies(2);
    await restarted;
    await expect.poll(() => stage.puppets.length).toBe(4);
    puppetOf(stage, 3).takesRequests();
    await expect.poll(() => workingOf(stage)).toEqual([1, 3]);
  });

  it('ends when all have, and starts nobody any more', async () => {
    const stage = await startStage();
    const ended = stage.crew.end();
    expect(stage.puppets.map(({ told }) => told)).toEqual([['end'], ['end']]);
    for (const puppet of stage.puppets) puppet.dies(0);
    await ended;
    expect([stage.puppets.length, stage.lines]).toEqual([2, []]);
  });

  it('kills who does not end', async () => {
    const stage = await startStage(1);
    await stage.crew.end();
    expect(puppetOf(stage, 0).told).toEqual(['end', 'kill']);
  });
});
