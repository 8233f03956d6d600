import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestDatabase, replaceMembers, type TestDatabase, testBudget } from '../storage/storage.fixture.ts';
import { addToAnswer, createCallerBudget } from './answer-budget.ts';
import type { PipelineOptions, RequestContext } from './request-context.ts';

let test: TestDatabase;
beforeAll(() => {
  test = openTestDatabase();
});
afterAll(() => test.dispose());

/** Adds the result of a request of a batch, and returns how often the time was checked. */
async function countChecks(data: unknown): Promise<number> {
  const budget = testBudget({ answerBytes: 60_000_000 });
  budget.answer.share(0);
  let checks = 0;
  await test.database.transaction(async (tx) => {
    const checked = replaceMembers(tx, {
      async checkTime() {
        checks++;
      },
    });
    await addToAnswer({ budget, tx: checked, request: {} as RequestContext['request'] }, { status: 200, data });
  });
  return checks;
}

const record = { body: 'a'.repeat(99_000) };

it('the size of a long list is measured in slices', async () => {
  expect(await countChecks(Array.from({ length: 500 }, () => record))).toBeGreaterThan(1);
});

it('the size of a record is measured without a check, which would count the time of writes before it', async () => {
  expect(await countChecks({ ...record, expand: Object.fromEntries(Array.from({ length: 500 }, (_, n) => [n, record])) })).toBe(0);
});

it.each([
  ['a user', 'ada', { milliseconds: 2000, rows: 101, answerBytes: 800, writeMilliseconds: 250 }, 2250],
  ['callers without a user', undefined, { milliseconds: 500, rows: 26, answerBytes: 200, writeMilliseconds: 63 }, 750],
])('the budget of %s has the limits of the caller, and attempts have as much time', async (_, userId, limits, time) => {
  const options = {
    budget: { milliseconds: 2000, rows: 101, answerBytes: 800, writeMilliseconds: 250, windowRows: 7 },
    anonymousBudget: 25,
  } as PipelineOptions;
  await test.database.transaction(async (tx) => {
    const limited: number[] = [];
    const observed = replaceMembers(tx, { limitTime: (milliseconds) => void limited.push(milliseconds) });
    expect(createCallerBudget(observed, options, userId).limits).toEqual({ ...limits, windowRows: 7 });
    expect(limited).toEqual([time]);
  });
});
