import { CLOCK_LEEWAY_SECONDS } from '../clock-leeway.ts';
import type { Tell } from '../database.ts';

/** One look at the clock of the server: all in milliseconds since 1970. */
export interface ClockReading {
  readonly server: number;
  /** By the clock of this machine, before the question was sent and after the answer was here. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** Compares the clock of this machine with that of the server. */
export interface ClockDifference {
  /** By how much they differ, if by more than tokens allow; undefined otherwise. */
  readonly fault: string | undefined;
  note(reading: ClockReading): void;
}

/** Milliseconds after which a difference that is still there is logged again. */
const REPEAT = 600_000;

/** @param tell Hears of a difference that is too large, every ten minutes as long as it is, and of its end. */
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

/** Positive where this machine is ahead. The answer may have been under way for long: only a time outside of that counts. */
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
