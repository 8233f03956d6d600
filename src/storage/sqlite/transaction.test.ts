import BetterSqlite3 from 'better-sqlite3';
import { expect, it } from 'vitest';
import { failure } from '../storage.fixture.ts';
import { createConnection } from './connection.ts';
import { openTransaction } from './transaction.ts';

it('a short attempt that ends has not lost the time of work of the service, such as loading the policies', async () => {
  const driver = new BetterSqlite3(':memory:');
  const lost: number[] = [];
  const state = { retained: new Map(), limit: Number.POSITIVE_INFINITY };
  const connection = createConnection(driver);
  const begunAt = performance.now();
  const { tx } = openTransaction(connection, {
    attempt: 'short',
    sendsNested: false,
    state,
    begin: () => 0,
    end: (milliseconds) => void lost.push(milliseconds),
  });
  let spent = 0;
  await tx.withoutTimeLimit(async () => {
    const from = performance.now();
    while (spent < 30) spent = performance.now() - from;
  });
  expect(await failure(tx.checkTime())).toMatchObject({ next: 'long' });
  // On a machine of any speed: the rest of the time until now contains what is lost.
  expect(lost).toEqual([expect.any(Number)]);
  expect(lost[0]).toBeLessThanOrEqual(performance.now() - begunAt - spent);
  driver.close();
});
