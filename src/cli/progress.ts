import type { CliContext } from './cli-context.ts';

/** Shows what is done while it is, where somebody looks on. */
export async function showing<T>({ showProgress }: CliContext, work: (show: (line: string) => void) => Promise<T>): Promise<T> {
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

/** How far it is: shown on a line of its own where somebody looks on. */
export interface Progress {
  tell(rows: number): void;
  /** Ends the line. */
  end(): void;
  readonly rows: number;
}

/** Milliseconds between two looks. */
const INTERVAL = 200;

/** Counts rows. */
export function createProgress({ showProgress }: CliContext): Progress {
  const began = performance.now();
  let rows = 0;
  let shownAt = Number.NEGATIVE_INFINITY;
  const show = (now: number): void => {
    shownAt = now;
    showProgress?.(`${rows} rows, ${Math.round(rows / Math.max(0.001, (now - began) / 1000))} rows/s`);
  };
  return {
    tell(more) {
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

/** Bytes for people: `12.3 MB`. */
export function toSize(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
