import { CLOCK_LEEWAY_SECONDS, type Log } from '../contract.ts';

/** A local estimate of the server's clock. */
export interface Clock {
  /** True if the clock was set within the last second. */
  readonly isFresh: boolean;
  /** True if the clock was set within the last quarter of a second, so that it need not be set again for a while. */
  readonly isRecent: boolean;
  /** Sets the clock from a server time, in milliseconds since 1970, and the local times at which the query for it was sent. */
  set(now: number, sent: LocalTimes): void;
  /**
   * Returns the latest time that the server may have, in milliseconds since 1970: an earlier one would let conditions and assignments that end
   * hold too long. @throws if the clock was never set.
   */
  now(): number;
}

/** The monotonic clock of this process, and the clock of this machine in milliseconds since 1970. */
export interface LocalTimes {
  readonly watch: number;
  readonly clock: number;
}

/** Reads both clocks. */
export function readLocalTimes(): LocalTimes {
  return { watch: performance.now(), clock: Date.now() };
}

/** Milliseconds for which the clock is fresh after it was set. */
const FRESH = 1000;
/** Milliseconds for which the clock is not set again by commit batches: hundreds of them may run in a second. */
const RECENT = 250;
/** Maximum milliseconds by which the server rounds its time down. */
const ROUNDING = 0.5;

/**
 * Creates a clock from the last time that the server reported and the monotonic clock of this process, so it is right even if the clock of
 * this machine is wrong or changed. Transactions that begin set it again. The monotonic clock may stop while the machine sleeps. In
 * that case the machine's clock shows that the estimate is old.
 *
 * The server has read its clock after the query was sent. Of the answers of the last second, the one that allows the earliest time is used, because
 * an answer may wait for other statements.
 */
export function createClock(difference: ClockDifference): Clock {
  let ahead: number | undefined;
  /** The time of the answer from which `ahead` was computed. */
  let boundAt = 0;
  let set: LocalTimes = { watch: 0, clock: 0 };
  const wasSetWithin = (milliseconds: number): boolean =>
    ahead !== undefined && performance.now() - set.watch < milliseconds && Math.abs(Date.now() - set.clock) < milliseconds;
  return {
    get isFresh() {
      return wasSetWithin(FRESH);
    },
    get isRecent() {
      return wasSetWithin(RECENT);
    },
    set(now, sent) {
      set = readLocalTimes();
      const [least, most] = [now - ROUNDING - set.watch, now + ROUNDING - sent.watch];
      const isCurrent = ahead !== undefined && ahead >= least && ahead <= most && set.watch - boundAt < FRESH;
      if (!isCurrent) [ahead, boundAt] = [most, set.watch];
      difference.note({ server: now, sentAt: sent.clock, receivedAt: set.clock });
    },
    now() {
      if (ahead === undefined) throw new Error('the clock was never set');
      return Math.ceil(performance.now() + ahead);
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
  /** A description of the difference if it exceeds `CLOCK_LEEWAY_SECONDS`, which tokens tolerate; otherwise undefined. */
  readonly fault: string | undefined;
  note(reading: ClockReading): void;
}

/** Milliseconds between two log lines about a difference that persists. */
const REPEAT = 600_000;

/**
 * Creates the comparison of the two clocks.
 *
 * @param log Called when the difference is too large, again every ten minutes while it persists, and at its end.
 */
export function createClockDifference(log: Log): ClockDifference {
  let fault: string | undefined;
  let loggedAt = Number.NEGATIVE_INFINITY;

  function logFault({ server, receivedAt }: ClockReading): void {
    if (performance.now() - loggedAt < REPEAT) return;
    loggedAt = performance.now();
    const times = `here it is ${toTime(receivedAt)}, there ${toTime(server)}`;
    log(`${fault}; ${times}: tokens are accepted too long or refused too early, and /readyz answers 503, until the clock is set right`);
  }

  return {
    get fault() {
      return fault;
    },
    note(reading) {
      const ahead = secondsAhead(reading);
      const before = fault;
      fault = Math.abs(ahead) > CLOCK_LEEWAY_SECONDS ? toFault(ahead) : undefined;
      if (fault !== undefined) return logFault(reading);
      loggedAt = Number.NEGATIVE_INFINITY;
      if (before !== undefined) log('the clock of this machine is right again');
    },
  };
}

/** Returns the seconds by which this machine is ahead, negative if it is behind; 0 if the server time lies within the round trip. */
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
