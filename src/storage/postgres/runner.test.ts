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
