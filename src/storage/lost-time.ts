/**
 * The time that short attempts may take: less for callers whose short attempts have ended without an answer, because these attempts take
 * time or connections from the others.
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
  /** Lost milliseconds of all callers together above which the short attempts of every caller have less time; no limit if absent. */
  readonly shared?: number;
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
  readonly milliseconds: number;
  readonly at: number;
}

/** Creates an account without lost time. */
export function createLostTime({ short, shared = Number.POSITIVE_INFINITY, now = () => performance.now() }: LostTimeOptions): LostTime {
  const losses = new Map<string, Loss>();
  let ofAll: Loss = { milliseconds: 0, at: now() };

  /** Returns the lost milliseconds that are not yet forgiven. */
  const leftOf = ({ milliseconds, at }: Loss): number => Math.max(0, milliseconds - (now() - at) * SHARE);
  const addTo = (left: number, milliseconds: number): Loss => ({ milliseconds: Math.min(MOST, left + milliseconds), at: now() });

  function lossOf(caller: string): number {
    const loss = losses.get(caller);
    const left = loss === undefined ? 0 : leftOf(loss);
    if (left === 0) losses.delete(caller);
    return left;
  }

  return {
    limitFor: (caller) => (losses.size > 0 && (lossOf(caller) > 0 || leftOf(ofAll) > shared) ? short * REDUCED : short),
    add(caller, milliseconds) {
      const loss = addTo(lossOf(caller), milliseconds);
      if (losses.size >= MAX_CALLERS) for (const known of [...losses.keys()]) lossOf(known);
      losses.set(caller, loss);
      ofAll = addTo(leftOf(ofAll), milliseconds);
    },
  };
}
