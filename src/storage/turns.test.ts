import { expect, it } from 'vitest';
import { createTurns, type Turns } from './turns.ts';

/** Turns whose clock a test sets. `retried` resolves when a slice that waits has tried again. */
function openTurns(): { readonly turns: Turns; readonly clock: { now: number }; retried(): Promise<void> } {
  const clock = { now: 0 };
  let calls = 0;
  const turns = createTurns(() => {
    calls++;
    return clock.now;
  });
  return {
    turns,
    clock,
    async retried() {
      for (const until = calls + 2; calls < until; ) await new Promise(setImmediate);
    },
  };
}

it('a slice waits for the units of work that go first', async () => {
  const { turns, retried } = openTurns();
  const [endOne, endOther] = [turns.goFirst(), turns.goFirst()];
  await turns.take(() => undefined);
  let isTaken = false;
  const second = turns.take(() => (isTaken = true));
  await retried();
  // Ended twice, as at the end of a unit of work that has begun to take turns.
  endOne();
  endOne();
  await retried();
  expect(isTaken).toBe(false);
  endOther();
  await second;
});

it('a slice waits no longer than some milliseconds after the one before', async () => {
  const { turns, clock, retried } = openTurns();
  turns.goFirst();
  await turns.take(() => undefined);
  clock.now = 15;
  let isTaken = false;
  const second = turns.take(() => (isTaken = true));
  await retried();
  expect(isTaken).toBe(false);
  clock.now = 16;
  await second;
});

it('slices follow each other at once if no unit of work goes first', async () => {
  const { turns } = openTurns();
  const order: number[] = [];
  await Promise.all([1, 2, 3].map((each) => turns.take(() => order.push(each))));
  expect(order).toEqual([1, 2, 3]);
});
