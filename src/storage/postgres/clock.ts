import type { ClockDifference } from './clock-difference.ts';

/** The server's clock. */
export interface Clock {
  /** Whether the server said not long ago what time it is. */
  readonly isFresh: boolean;
  /** Sets the clock from a server time and the local time at which the query for it was sent: milliseconds since 1970. */
  set(now: number, sentAt: number): void;
  /** Milliseconds since 1970. @throws where it was never set. */
  now(): number;
}

/** Milliseconds for which it goes by our own watch. */
const FRESH = 1000;

/**
 * A clock that goes by what the server said last, and by a watch of our own since: however wrong the clock of this machine is, or
 * is set while we run. Each transaction sets it anew, so it never runs on its own for long where it matters; that the machine has slept,
 * our watch may not notice, but its clock does.
 */
export function createClock(difference: ClockDifference): Clock {
  let ahead: number | undefined;
  let set = { watch: 0, clock: 0 };
  return {
    get isFresh() {
      if (ahead === undefined) return false;
      return performance.now() - set.watch < FRESH && Math.abs(Date.now() - set.clock) < FRESH;
    },
    set(now, sentAt) {
      set = { watch: performance.now(), clock: Date.now() };
      ahead = now - set.watch;
      difference.note({ server: now, sentAt, receivedAt: set.clock });
    },
    now() {
      if (ahead === undefined) throw new Error('the clock was never set');
      return Math.floor(performance.now() + ahead);
    },
  };
}
