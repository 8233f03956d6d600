import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createBusyCheck } from './event-loop.ts';

/** Works without a pause. */
async function work(milliseconds: number): Promise<void> {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
  // The event loop counts its work when it waits for the next event.
  await sleep(0);
}

it('a process is busy while its event loop works most of the time, and no longer when it waits', async () => {
  const isBusy = createBusyCheck();
  await sleep(400);
  const first = isBusy();
  await work(400);
  const working = isBusy();
  await sleep(400);
  expect([first, working, isBusy()]).toEqual([false, true, false]);
});
