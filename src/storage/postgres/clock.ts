/** The server's clock. */
export interface Clock {
  readonly isSet: boolean;
  /** Sets it by what the server answered to the beginning of a transaction. */
  set(answer: unknown): void;
  /** Milliseconds since 1970. @throws where it was never set. */
  now(): number;
}

/**
 * A clock that goes by what the server said last, and by a watch of our own since: however wrong the clock of this machine is, or
 * is set while we run. Each transaction sets it anew, so it never runs on its own for long where it matters.
 */
export function createClock(): Clock {
  let ahead: number | undefined;
  return {
    get isSet() {
      return ahead !== undefined;
    },
    set(answer) {
      // Of several statements in one message, the last one tells.
      const last = Array.isArray(answer) ? (answer.at(-1) as { readonly rows: readonly { readonly now?: number }[] }) : undefined;
      const now = last?.rows[0]?.now;
      if (now === undefined) throw new Error('the server did not say when the transaction began');
      ahead = now - performance.now();
    },
    now() {
      if (ahead === undefined) throw new Error('the clock was never set');
      return Math.floor(performance.now() + ahead);
    },
  };
}
