import { beforeEach, expect, it, vi } from 'vitest';
import { type Clock, createClock, createClockDifference, readLocalTimes } from './server-clock.ts';

/** The server is this many milliseconds ahead of the monotonic clock of the process. */
const AHEAD = 1_000_000;

let local = 0;
let clock: Clock;
beforeEach(() => {
  local = 500;
  vi.spyOn(performance, 'now').mockImplementation(() => local);
  vi.spyOn(Date, 'now').mockImplementation(() => AHEAD + local);
  clock = createClock(createClockDifference(() => undefined));
});

/** Sends a query, which the server answers after `there` milliseconds, and receives the answer after `back` milliseconds. */
function ask({ there, back }: { readonly there: number; readonly back: number }): void {
  const sent = readLocalTimes();
  local += there;
  const server = AHEAD + local;
  local += back;
  clock.set(server, sent);
}

it('stays at the time of the server or ahead of it, however long the answer takes', () => {
  for (const [there, back] of [
    [0, 40],
    [40, 0],
    [20, 20],
    [0, 2000],
  ] as const) {
    ask({ there, back });
    expect(clock.now()).toBeGreaterThanOrEqual(AHEAD + local);
  }
});

it('runs ahead of the server by no more than the shortest way of a query in the last second', () => {
  ask({ there: 3, back: 5 });
  ask({ there: 300, back: 0 });
  expect(clock.now()).toBeLessThanOrEqual(AHEAD + local + 4);
  local += 2000;
  ask({ there: 10, back: 0 });
  expect(clock.now()).toBeLessThanOrEqual(AHEAD + local + 11);
});

it('the clock is recent for a quarter of a second, and fresh for a second, after it was set', () => {
  ask({ there: 1, back: 1 });
  const states = [0, 200, 100, 600, 200].map((passed) => {
    local += passed;
    return [clock.isRecent, clock.isFresh];
  });
  expect(states).toEqual([...[0, 1].map(() => [true, true]), ...[2, 3].map(() => [false, true]), [false, false]]);
});

it('follows a server whose clock was set', () => {
  ask({ there: 1, back: 1 });
  const sent = readLocalTimes();
  for (const server of [AHEAD + 60_000, AHEAD - 60_000]) {
    clock.set(server + local, sent);
    expect(Math.abs(clock.now() - server - local)).toBeLessThanOrEqual(2);
  }
});
