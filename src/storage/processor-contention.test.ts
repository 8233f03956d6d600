import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createContentionCheck } from './processor-contention.ts';

/** Milliseconds of a process. */
interface Times {
  readonly idle: number;
  readonly active: number;
  readonly processor: number;
}

/** Returns the results of a check after each of these changes. */
function checkAfter(...changes: readonly Times[]): readonly boolean[] {
  let times: Times = { idle: 0, active: 0, processor: 0 };
  const check = createContentionCheck({ loop: () => times, processor: () => times.processor });
  return changes.map(({ idle, active, processor }) => {
    times = { idle: times.idle + idle, active: times.active + active, processor: times.processor + processor };
    return check();
  });
}

it('there is contention while the event loop has work and no processor for a part of the time', () => {
  const waiting = { idle: 100, active: 10, processor: 10 };
  const working = { idle: 10, active: 90, processor: 90 };
  const contended = { idle: 10, active: 90, processor: 70 };
  expect(checkAfter(waiting, working, contended, working)).toEqual([false, false, true, false]);
});

it('the share is measured over 50 milliseconds', () => {
  const contended = { idle: 0, active: 30, processor: 10 };
  expect(checkAfter(contended, contended, { idle: 0, active: 20, processor: 20 })).toEqual([false, true, true]);
});

it('reads the processor time only once per period', () => {
  let reads = 0;
  let active = 0;
  const check = createContentionCheck({ loop: () => ({ idle: 0, active }), processor: () => (reads += 1) });
  for (active = 1; active <= 100; active++) check();
  expect(reads).toBe(3);
});

it('measures this process', async () => {
  const check = createContentionCheck();
  // The event loop has work, but uses no processor.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  await sleep(1);
  expect(check()).toBe(true);
  await sleep(1000);
  expect(check()).toBe(false);
});
