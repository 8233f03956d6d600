/**
 * The time that short attempts may take: less for callers whose short attempts have ended without an answer, because these attempts take
 * connections from the others.
 */
export interface LostTime {
  /** Returns the maximum milliseconds of the next short attempt. */
  limitFor(caller: string): number;
  /** Adds the milliseconds of a short attempt that has ended without an answer. */
  add(caller: string, milliseconds: number): void;
}

/** Options of the lost time. */
export interface LostTimeOptions {
  /** Maximum milliseconds of a short attempt. */
  readonly short: number;
  /** Returns the time in milliseconds; the monotonic clock if absent. */
  now?(): number;
}

/** The share of each second that a caller may lose; after more, its short attempts have a tenth of the time. */
const SHARE = 0.05;
const REDUCED = 0.1;
/** Maximum lost milliseconds of a caller: a caller gets the whole time again after 20 seconds. */
const MOST = 1000;
/** Number of callers above which those without lost time are removed. */
const MAX_CALLERS = 1000;

interface Loss {
  milliseconds: number;
  at: number;
}

/** Creates an account without lost time. */
export function createLostTime({ short, now = () => performance.now() }: LostTimeOptions): LostTime {
  const losses = new Map<string, Loss>();

  /** Returns the lost milliseconds of a caller that are not yet forgiven. */
  function lossOf(caller: string): number {
    const loss = losses.get(caller);
    if (loss === undefined) return 0;
    const left = loss.milliseconds - (now() - loss.at) * SHARE;
    if (left > 0) return left;
    losses.delete(caller);
    return 0;
  }

  return {
    limitFor: (caller) => (losses.size > 0 && lossOf(caller) > 0 ? short * REDUCED : short),
    add(caller, milliseconds) {
      const lost = Math.min(MOST, lossOf(caller) + milliseconds);
      if (losses.size >= MAX_CALLERS) for (const known of [...losses.keys()]) lossOf(known);
      losses.set(caller, { milliseconds: lost, at: now() });
    },
  };
}
