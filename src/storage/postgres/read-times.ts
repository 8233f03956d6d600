import { LRUCache } from 'lru-cache';

/** The times of shared reads, by the text of the statement and by the caller. */
export interface ReadTimes {
  /** Adds the milliseconds of a read. */
  add(text: string, caller: string, milliseconds: number): void;
  /** Returns true if a read may share a connection. Of a text or a caller that was slow, one read at a time is tried. */
  mayShare(text: string, caller: string): boolean;
  /** Returns true if reads with this text, or of this caller, share no connection at present. */
  isResting(text: string, caller: string): boolean;
}

/** Average milliseconds above which reads are slow. */
const SLOW = 10;
/** The weight of the newest read in the average. */
const NEWEST = 1 / 8;
/** The multiple of the time of a read in which slow reads share no connection. */
const REST = 20;
/** Maximum milliseconds for the answer of a read that is tried, before another is. */
const TRIAL = 1000;
/** Maximum texts, and maximum callers, whose times are kept. */
const MAX_KEPT = 500;

interface Times {
  average: number;
  restsUntil: number;
  /** The time until which the answer of a read that is tried is awaited. */
  triedUntil: number;
}

/** Creates times without any read. */
export function createReadTimes(now: () => number = () => performance.now()): ReadTimes {
  const texts = new LRUCache<string, Times>({ max: MAX_KEPT });
  const callers = new LRUCache<string, Times>({ max: MAX_KEPT });
  const timesOf = (text: string, caller: string): readonly Times[] =>
    [texts.get(text), callers.get(caller)].filter((times) => times !== undefined);

  function addTo(kept: LRUCache<string, Times>, key: string, milliseconds: number): void {
    const times = kept.get(key) ?? { average: 0, restsUntil: 0, triedUntil: 0 };
    times.average += (milliseconds - times.average) * NEWEST;
    if (times.average > SLOW) times.restsUntil = Math.max(times.restsUntil, now() + milliseconds * REST);
    times.triedUntil = 0;
    kept.set(key, times);
  }

  return {
    add(text, caller, milliseconds) {
      addTo(texts, text, milliseconds);
      addTo(callers, caller, milliseconds);
    },
    mayShare(text, caller) {
      const known = timesOf(text, caller);
      const at = now();
      if (known.some(({ restsUntil, triedUntil }) => Math.max(restsUntil, triedUntil) > at)) return false;
      for (const times of known) if (times.average > SLOW) times.triedUntil = at + TRIAL;
      return true;
    },
    isResting: (text, caller) => timesOf(text, caller).some(({ restsUntil }) => restsUntil > now()),
  };
}
