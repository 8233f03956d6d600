import type { CliContext } from './cli-context.ts';

/** Runs work that shows a progress line, and ends the line afterwards. */
export async function withProgress<T>({ showProgress }: CliContext, work: (show: (line: string) => void) => Promise<T>): Promise<T> {
  let isShown = false;
  try {
    return await work((line) => {
      isShown = true;
      showProgress?.(line);
    });
  } finally {
    if (isShown) showProgress?.(undefined);
  }
}

/** A row counter that shows a progress line on a terminal. */
export interface Progress {
  add(rows: number): void;
  /** Shows the total and ends the line. */
  end(): void;
  readonly rows: number;
}

/** Minimum milliseconds between two updates of the progress line. */
const INTERVAL = 200;

/** Creates a row counter. */
export function createProgress({ showProgress }: CliContext): Progress {
  const began = performance.now();
  let rows = 0;
  let shownAt = Number.NEGATIVE_INFINITY;
  const show = (now: number): void => {
    shownAt = now;
    showProgress?.(`${rows} rows, ${Math.round(rows / Math.max(0.001, (now - began) / 1000))} rows/s`);
  };
  return {
    add(more) {
      rows += more;
      const now = performance.now();
      if (now - shownAt >= INTERVAL) show(now);
    },
    end() {
      if (shownAt === Number.NEGATIVE_INFINITY) return;
      show(performance.now());
      showProgress?.(undefined);
    },
    get rows() {
      return rows;
    },
  };
}

/** Formats a number of bytes: `12.3 MB`. */
export function formatSize(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
