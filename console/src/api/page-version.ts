/**
 * Detects that the service was updated while this page is open. The name of the page's script contains a hash of the build, so a service with
 * another build does not have it.
 */

/** Milliseconds between two checks of a page that stays visible. */
const CHECK_EVERY = 10 * 60_000;

let isOutdated = false;
const listeners = new Set<() => void>();

/** Returns true if the service has another build of the console than this page. */
export function isPageOutdated(): boolean {
  return isOutdated;
}

/** Calls a function after each change of `isPageOutdated`. Returns a function that ends the calls. */
export function subscribePageVersion(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Asks the service for the script of this page. */
export async function checkPageVersion(): Promise<void> {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]');
  if (script === null) return;
  // The browser has stored the script, and would answer without the service.
  const response = await fetch(script.src, { method: 'HEAD', cache: 'no-store', credentials: 'omit' }).catch(() => undefined);
  // Other statuses, and no answer, say nothing about the build.
  if (response?.status === 404) change(true);
}

/** Stops showing that the page is outdated, until the next check. */
export function postponeReload(): void {
  change(false);
}

/** Checks the page from time to time, and when the user returns to it. */
export function watchPageVersion(): void {
  const check = (): void => {
    if (document.visibilityState === 'visible') void checkPageVersion();
  };
  document.addEventListener('visibilitychange', check);
  setInterval(check, CHECK_EVERY);
}

function change(next: boolean): void {
  isOutdated = next;
  for (const listener of listeners) listener();
}
