import { CLOCK_LEEWAY_SECONDS } from '../clock-leeway.ts';
import type { Tell } from '../database.ts';

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
export function createClockDifference(tell: Tell): ClockDifference {
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
