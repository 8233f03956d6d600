import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { failure, testBudget } from './storage.fixture.ts';

describe('a budget', () => {
  it('lets the searches of the first request begin without time, and refuses those of the next one with REQUEST_BUDGET', async () => {
    const budget = testBudget({ milliseconds: 0 });
    budget.beginRequest();
    for (const name of ['one', 'two']) expect(await budget.search(async () => name)).toBe(name);
    budget.beginRequest();
    expect(await failure(budget.search(async () => 'done'))).toMatchObject({
      code: 'REQUEST_BUDGET',
      detail: expect.stringContaining('0 ms (scanMilliseconds)'),
    });
  });

  it('refuses the searches of a request after the rows are used up, also by a search within a search', async () => {
    const budget = testBudget({ rows: 5 });
    await budget.search(() => budget.search(async () => budget.addRows(6)));
    expect([budget.rowsLeft, budget.reached]).toEqual([0, 'scanRows']);
    budget.beginRequest();
    expect(await failure(budget.search(async () => 'done'))).toMatchObject({ detail: expect.stringContaining('5 rows (scanRows)') });
  });

  it('counts the time of searches, also of failed ones, without pauses and without the time between them', async () => {
    const budget = testBudget({ milliseconds: 10_000 });
    const leftAfter = async (): Promise<number> => {
      const before = budget.millisecondsLeft;
      await sleep(10);
      return before - budget.millisecondsLeft;
    };
    expect(await leftAfter()).toBe(0);
    expect(await budget.search(() => budget.pause(leftAfter))).toBe(0);
    expect(await budget.search(leftAfter)).toBeGreaterThan(5);
    const before = budget.millisecondsLeft;
    expect(await failure(budget.search(() => sleep(10).then(() => Promise.reject(new Error('mine')))))).toMatchObject({ message: 'mine' });
    expect(before - budget.millisecondsLeft).toBeGreaterThan(5);
    expect(await leftAfter()).toBe(0);
  });
});
