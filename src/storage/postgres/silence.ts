/** Notices where somebody who is asked says nothing any more: a machine that is gone closes no connection. */
export interface Silence {
  /** From now on it is noticed after so many milliseconds; never where that is undefined. */
  allow(milliseconds: number | undefined): void;
  /** Hands on what a question comes to. */
  watch<T>(asked: Promise<T>): Promise<T>;
}

/**
 * Makes one for a connection.
 *
 * @param cutOff Ends it, so that whatever was asked fails.
 */
export function createSilence(cutOff: () => void): Silence {
  let allowed: number | undefined;
  let unanswered = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Whatever is answered shows that somebody is there. */
  function heard(): void {
    unanswered--;
    clearTimeout(timer);
    timer = unanswered === 0 ? undefined : begin();
  }

  function begin(): NodeJS.Timeout | undefined {
    return allowed === undefined ? undefined : setTimeout(cutOff, allowed);
  }

  return {
    allow(milliseconds) {
      allowed = milliseconds;
    },
    watch(asked) {
      unanswered++;
      timer ??= begin();
      asked.then(heard, heard);
      return asked;
    },
  };
}
