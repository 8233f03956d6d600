import { CLOCK_LEEWAY_SECONDS, type Log } from '../contract.ts';

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

/** One reading of the server's clock; all times in milliseconds since 1970. */
export interface ClockReading {
  readonly server: number;
  /** Times of this machine's clock before sending the query and after receiving the result. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** Compares the clock of this machine with that of the server. */
export interface ClockDifference {
  /** Returns the difference if it is larger than tokens allow, else undefined. */
  readonly fault: string | undefined;
  note(reading: ClockReading): void;
}

/** Milliseconds after which a difference that is still there is logged again. */
const REPEAT = 600_000;

/** @param tell Called when a difference is too large, again every ten minutes while it lasts, and at its end. */
export function createClockDifference(tell: Log): ClockDifference {
  let fault: string | undefined;
  let toldAt = Number.NEGATIVE_INFINITY;

  function tellFault({ server, receivedAt }: ClockReading): void {
    if (performance.now() - toldAt < REPEAT) return;
    toldAt = performance.now();
    const times = `here it is ${toTime(receivedAt)}, there ${toTime(server)}`;
    tell(`${fault}; ${times}: tokens are accepted too long or refused too early, and /readyz answers 503, until the clock is set right`);
  }

  return {
    get fault() {
      return fault;
    },
    note(reading) {
      const ahead = secondsAhead(reading);
      const before = fault;
      fault = Math.abs(ahead) > CLOCK_LEEWAY_SECONDS ? toFault(ahead) : undefined;
      if (fault !== undefined) return tellFault(reading);
      toldAt = Number.NEGATIVE_INFINITY;
      if (before !== undefined) tell('the clock of this machine is right again');
    },
  };
}

/** Positive if this machine is ahead. The round trip may be long: only a server time outside of it counts as a difference. */
function secondsAhead({ server, sentAt, receivedAt }: ClockReading): number {
  if (server < sentAt) return (sentAt - server) / 1000;
  return server > receivedAt ? (receivedAt - server) / 1000 : 0;
}

function toFault(ahead: number): string {
  const seconds = Math.round(Math.abs(ahead));
  return `the clock of this machine is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} the clock of the database`;
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
