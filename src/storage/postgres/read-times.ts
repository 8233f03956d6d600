import { LRUCache } from 'lru-cache';

/** The times of shared reads, by the text of the statement and by the caller. */
export interface ReadTimes {
  /** Adds the milliseconds of a read. */
  add(text: string, caller: string, milliseconds: number): void;
  /** Returns true if a read may share a connection. Slow reads are tried one at a time after their rest. */
  mayShare(text: string, caller: string): boolean;
  /** Returns true if reads with this text, or of this caller, share no connection at present. */
  isResting(text: string, caller: string): boolean;
}

/** Reads with one text, or of one caller, are slow if their average exceeds these milliseconds. */
const SLOW = 10;
/** The weight of the newest read in the average. */
const NEWEST = 1 / 8;
/** Slow reads share no connection for this multiple of the time of the last one. */
const REST = 20;
/** If a read that is tried has no answer after these milliseconds, another one is tried. */
const TRIAL = 1000;
/** Maximum texts, and maximum callers, whose times are kept. */
const MAX_KEPT = 500;

interface Times {
  average: number;
  restsUntil: number;
  /** While a slow read is tried: the time until which the others wait for its answer. */
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
