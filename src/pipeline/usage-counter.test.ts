import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPipeline, type TestPipeline } from './pipeline.fixture.ts';
import { createUsageCounter } from './usage-counter.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({ definitions: {} });
});
afterAll(() => test.dispose());

it('a usage counter returns the total of the transaction', async () => {
  const count = createUsageCounter();
  await test.deps.database.transaction(async (tx) => {
    expect([count(tx, 2), count(tx, 0), count(tx, 3)]).toEqual([2, 2, 5]);
  });
});

it('counts the usage of each transaction by itself, also of transactions that share a commit', async () => {
  const count = createUsageCounter();
  const { database } = test.deps;
  const totals = await Promise.all([1, 2].map((n) => database.transaction(async (tx) => [count(tx, n), count(tx, n)])));
  expect(totals).toEqual([
    [1, 2],
    [2, 4],
  ]);
});

it('counts usage separately from other counters of the same transaction', async () => {
  const [one, other] = [createUsageCounter(), createUsageCounter()];
  await test.deps.database.transaction(async (tx) => {
    one(tx, 5);
    expect(other(tx, 1)).toBe(1);
  });
});
