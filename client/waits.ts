/** Waits that the signal of a call ends. They leave no listener: one signal may belong to many calls. */

/** Waits. An aborted signal ends the wait; the next request then fails with its reason. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
    // A signal that is aborted already sends no event.
    if (signal?.aborted) end();
  });
}

/** Waits for a result that does not depend on the signal, because other calls wait for it too. @throws the reason of the signal if it is aborted first */
export function unlessAborted<T>(result: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return result;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    const end = (): void => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    result.then(resolve, reject).finally(end);
  });
}
