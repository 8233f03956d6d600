/** A monotonic clock that jumps ahead when it is read, so that the time of a request is up at a chosen check of the time. */
import { vi } from 'vitest';

/** The readings at which a clock jumps. An infinite `interval` is a single jump, an infinite `first` none. */
export interface Jumps {
  readonly first: number;
  readonly interval: number;
}

/** A clock that never goes back. */
export interface JumpingClock {
  /** Number of readings since the last `jumpAt`. */
  readonly readings: number;
  /** Replaces the clock of the process until the test ends. */
  install(): void;
  /** Jumps at a reading from now on, counted from 1, and again after each `interval` readings. */
  jumpAt({ first, interval }: Jumps): void;
  /** Jumps no more. The clock stays ahead. */
  rest(): void;
}

/** Milliseconds of a jump: more than any time limit of the tests. */
const JUMP = 600_000;

/** A clock that does not jump. */
export const NO_JUMPS: Jumps = { first: Number.POSITIVE_INFINITY, interval: Number.POSITIVE_INFINITY };

/** Creates a clock that does not jump. */
export function createJumpingClock(): JumpingClock {
  const { now } = performance;
  let [ahead, readings] = [0, 0];
  let jumps: Jumps = NO_JUMPS;
  function read(): number {
    readings++;
    const since = readings - jumps.first;
    if (since === 0 || (since > 0 && since % jumps.interval === 0)) ahead += JUMP;
    return now.call(performance) + ahead;
  }
  return {
    get readings() {
      return readings;
    },
    install: () => void vi.spyOn(performance, 'now').mockImplementation(read),
    jumpAt(next) {
      [readings, jumps] = [0, next];
    },
    rest() {
      jumps = NO_JUMPS;
    },
  };
}
