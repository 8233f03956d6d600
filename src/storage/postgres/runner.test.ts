import { afterEach, describe, expect, it, vi } from 'vitest';
import { sql } from '../../sql.ts';
import type { TransactionOptions } from '../contract.ts';
import { parsePostgresUrl } from './connection-string.ts';
import { createRunner, type Runner } from './runner.ts';

afterEach(() => vi.restoreAllMocks());

/** Calls `examine` while a unit of work runs. The clock stands still, so that no slice waits too long. */
async function runBeside(options: TransactionOptions, examine: (runner: Runner) => Promise<void>): Promise<void> {
  const runner = createRunner(parsePostgresUrl(process.env['TEST_POSTGRES_URL'] ?? ''), { connections: 1, readers: 1 });
  const [entered, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const running = runner.run(async (tx) => {
    await tx.one(sql`SELECT 1`);
    entered.resolve();
    await left.promise;
  }, options);
  await entered.promise;
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  await examine(runner);
  left.resolve();
  await running;
  await runner.turns.take(() => undefined);
  vi.restoreAllMocks();
  await runner.close();
}

describe('the slices of long units of work', () => {
  it('a slice waits for a short unit of work', () =>
    runBeside({}, async ({ turns }) => {
      await turns.take(() => undefined);
      let isTaken = false;
      void turns.take(() => (isTaken = true));
      const { calls } = vi.mocked(performance.now).mock;
      for (const until = calls.length + 3; !isTaken && calls.length < until; ) await new Promise(setImmediate);
      expect(isTaken).toBe(false);
    }));

  it('a slice waits for no other long unit of work', () =>
    runBeside({ beginsLong: true }, async ({ turns }) => {
      await Promise.all([1, 2].map(() => turns.take(() => undefined)));
    }));
});

describe('units of work that write many records', () => {
  it('one of each caller and two of all run at the same time, while short ones run', async () => {
    const runner = createRunner(parsePostgresUrl(process.env['TEST_POSTGRES_URL'] ?? ''), { connections: 4 });
    const began: string[] = [];
    const finish = Promise.withResolvers<void>();
    const write = (caller: string, writes: number): Promise<unknown> =>
      runner.run(
        async (tx) => {
          await tx.one(sql`SELECT 1`);
          began.push(caller);
          await finish.promise;
        },
        { caller, writes },
      );
    const writing = ['ann', 'ann', 'bob', 'cid'].map((caller) => write(caller, 201));
    await expect.poll(() => began.toSorted()).toEqual(['ann', 'bob']);
    expect(runner.metrics.longWaiting).toBe(2);
    // The connections are free for others, and for the same caller.
    expect(await runner.run((tx) => tx.one(sql`SELECT 1 AS one`), { caller: 'ann' })).toMatchObject({ answer: { one: 1 } });
    const small = write('ann', 200);
    await expect.poll(() => began.toSorted()).toEqual(['ann', 'ann', 'bob']);
    finish.resolve();
    await Promise.all([...writing, small]);
    expect(began.slice(3).toSorted()).toEqual(['ann', 'cid']);
    await runner.close();
  });
});
