/** Milliseconds after the first refusal of a kind in which further ones have no entry. */
const WINDOW_MS = 60_000;

/** Maximum number of windows. Beyond it, all other kinds share one window. */
const MAX_WINDOWS = 1000;

/** The kind of all refusals above the maximum number of windows. */
const OTHERS = '';

/** Limits the number of audit entries of refusals that any client can cause at no cost. */
export interface RefusalWindows {
  /**
   * Calls `commit`, which returns the id of a committed entry, if it is the first refusal of its kind in a window. Returns the id of the
   * entry of the window. All refusals of a window wait for its entry. If `commit` throws, they fail with its error and the window ends.
   */
  record(kind: string, commit: () => Promise<string>): Promise<string>;
}

interface RefusalWindow {
  readonly endsAt: number;
  readonly entryId: Promise<string>;
}

/** Creates the windows of one process. */
export function createRefusalWindows({ windowMs = WINDOW_MS, maxWindows = MAX_WINDOWS } = {}): RefusalWindows {
  const windows = new Map<string, RefusalWindow>();

  /** Deletes the windows that have ended. All are equally long, so the map has the order in which they end. */
  function deleteEnded(now: number): void {
    for (const [kind, { endsAt }] of windows) {
      if (endsAt > now) return;
      windows.delete(kind);
    }
  }

  return {
    async record(kind, commit) {
      const now = performance.now();
      deleteEnded(now);
      const key = windows.has(kind) || windows.size < maxWindows ? kind : OTHERS;
      const known = windows.get(key);
      if (known !== undefined) return known.entryId;
      const window = { endsAt: now + windowMs, entryId: commit() };
      windows.set(key, window);
      try {
        return await window.entryId;
      } catch (error) {
        if (windows.get(key) === window) windows.delete(key);
        throw error;
      }
    },
  };
}
