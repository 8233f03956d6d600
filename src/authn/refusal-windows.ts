/** Milliseconds after the first refusal of a kind in which further ones have no entry. */
const WINDOW_MS = 60_000;

/** Maximum number of windows. Beyond it, all other kinds share one window. */
const MAX_WINDOWS = 1000;

/** The kind of all refusals above the maximum number of windows. */
const OTHERS = '';

/**
 * Limits the number of audit entries of refusals that any client can cause at no cost. The first refusal of a kind in a window has an entry;
 * the others are counted in memory.
 *
 * @typeParam Refusal The refusal that an entry is written for.
 */
export interface RefusalWindows<Refusal> {
  /**
   * Calls `commit`, which returns the id of a committed entry, if it is the first refusal of its kind in a window. Returns the id of the
   * entry of the window. All refusals of a window wait for its entry. If `commit` throws, they fail with its error and the window ends.
   */
  record(kind: string, refusal: Refusal, commit: () => Promise<string>): Promise<string>;
  /** Removes the windows with repeated refusals that have ended, or all of them, and returns their numbers. */
  takeRepeats(which: 'ended' | 'all'): readonly Repeats<Refusal>[];
  /** Puts numbers back that could not be stored. */
  restoreRepeats(repeats: readonly Repeats<Refusal>[]): void;
}

/** The number of refusals of a window after the first. */
export interface Repeats<Refusal> {
  /** The first refusal of the window; undefined if its refusals are of several kinds. */
  readonly refusal: Refusal | undefined;
  /** The id of the entry of the first refusal. */
  readonly entryId: string;
  readonly since: number;
  readonly last: number;
  readonly count: number;
}

interface RefusalWindow<Refusal> {
  readonly endsAt: number;
  readonly entry: Promise<string>;
  readonly refusal: Refusal | undefined;
  readonly since: number;
  /** Undefined until the entry is committed. */
  entryId?: string;
  last: number;
  count: number;
}

/** Creates the windows of one process. */
export function createRefusalWindows<Refusal>({ windowMs = WINDOW_MS, maxWindows = MAX_WINDOWS } = {}): RefusalWindows<Refusal> {
  const windows = new Map<string, RefusalWindow<Refusal>>();
  let ended: Repeats<Refusal>[] = [];

  /** Ends the windows whose time is over. All are equally long, so the map has the order in which they end. */
  function endUntil(now: number): void {
    for (const [kind, window] of windows) {
      if (window.endsAt > now) return;
      // A window whose entry is not yet committed continues, because its refusals still wait.
      if (window.entryId === undefined) continue;
      windows.delete(kind);
      if (window.count > 0) ended.push({ ...window, entryId: window.entryId });
    }
  }

  return {
    async record(kind, refusal, commit) {
      const now = performance.now();
      endUntil(now);
      const key = windows.has(kind) || windows.size < maxWindows ? kind : OTHERS;
      const known = windows.get(key);
      if (known !== undefined) {
        known.count++;
        known.last = Date.now();
        return known.entry;
      }
      const since = Date.now();
      const isShared = key !== kind;
      const window = { endsAt: now + windowMs, entry: commit(), refusal: isShared ? undefined : refusal, since, last: since, count: 0 };
      windows.set(key, window);
      try {
        const entryId = await window.entry;
        Object.assign(window, { entryId });
        return entryId;
      } catch (error) {
        if (windows.get(key) === window) windows.delete(key);
        throw error;
      }
    },
    takeRepeats(which) {
      endUntil(which === 'all' ? Number.POSITIVE_INFINITY : performance.now());
      const taken = ended;
      ended = [];
      return taken;
    },
    restoreRepeats(repeats) {
      ended = [...repeats, ...ended];
    },
  };
}
