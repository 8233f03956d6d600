import type { AttemptState } from '../attempt.ts';

/** An attempt in a commit batch. */
export interface BatchAttempt {
  readonly attempt: 'short' | 'writer';
  readonly state: AttemptState;
  /**
   * True if savepoints inside of that of the unit of work are sent. SQLite copies each page that is changed in one, which takes longer than the change. If
   * they are not sent and one of them is undone after a write, the attempt ends.
   */
  readonly sendsNested: boolean;
  /** Begins the attempt. Returns its maximum milliseconds for statements with a deadline check and for work in memory. */
  begin(): number;
  /** Receives the milliseconds of a short attempt that ends before its unit of work. */
  end?(milliseconds: number): void;
  /** Called when the attempt ends because it needs nested savepoints. */
  needNested?(): void;
}

/** Returns an attempt without a time limit: a migration, or the statements of the service itself. */
export function withoutLimit(): BatchAttempt {
  return {
    attempt: 'writer',
    sendsNested: true,
    begin: () => Number.POSITIVE_INFINITY,
    state: { retained: new Map(), limit: Number.POSITIVE_INFINITY },
  };
}
