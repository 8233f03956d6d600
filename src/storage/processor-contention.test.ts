import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createContentionCheck, type ProcessUsage } from './processor-contention.ts';

/** Returns the results of a check after each of these changes of the usage. */
function checkAfter(...changes: readonly ProcessUsage[]): readonly boolean[] {
  let usage: ProcessUsage = { idle: 0, active: 0, processor: 0 };
  const check = createContentionCheck(() => usage);
  return changes.map(({ idle, active, processor }) => {
    usage = { idle: usage.idle + idle, active: usage.active + active, processor: usage.processor + processor };
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

it('measures this process', async () => {
  const check = createContentionCheck();
  // The event loop has work, but uses no processor.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  await sleep(1);
  expect(check()).toBe(true);
  await sleep(1000);
  expect(check()).toBe(false);
});
