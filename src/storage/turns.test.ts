import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createTurns } from './turns.ts';

/** Opens turns whose clock a test sets, and takes the first one at 0 ms. */
async function openTurns() {
  const clock = { now: 0, reads: 0 };
  const turns = createTurns(() => {
    clock.reads++;
    return clock.now;
  });
  await turns.take(() => undefined);
  return { turns, clock };
}

/** Waits until a condition is true. If it never is, the test fails soon. */
async function until(isDone: () => boolean): Promise<void> {
  for (let tick = 0; tick < 1000 && !isDone(); tick++) await pause(1);
  expect(isDone()).toBe(true);
}

it('a slice waits for the units of work that go first', async () => {
  const { turns, clock } = await openTurns();
  const [endOne, endOther] = [turns.goFirst(), turns.goFirst()];
  let isTaken = false;
  void turns.take(() => (isTaken = true));
  // Ended twice, as a unit of work that begins to take turns.
  for (let count = 0; count < 2; count++) endOne();
  const { reads } = clock;
  await until(() => isTaken || clock.reads > reads + 2);
  expect(isTaken).toBe(false);
  endOther();
  await until(() => isTaken);
});

it('a slice begins some milliseconds after the one before, although a unit of work goes first', async () => {
  const { turns, clock } = await openTurns();
  turns.goFirst();
  let isTaken = false;
  void turns.take(() => (isTaken = true));
  clock.now = 15;
  const { reads } = clock;
  await until(() => isTaken || clock.reads > reads + 2);
  expect(isTaken).toBe(false);
  clock.now = 16;
  await until(() => isTaken);
});

it('slices are taken in order if no unit of work goes first', async () => {
  const { turns } = await openTurns();
  const order: number[] = [];
  await Promise.all([1, 2, 3].map((each) => turns.take(() => order.push(each))));
  expect(order).toEqual([1, 2, 3]);
});
