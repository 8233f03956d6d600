/** Messages that are not shown yet. */
let waiting: string[] = [];
const listeners = new Set<() => void>();

/** Shows for some seconds that a change was made. Screen readers announce it. */
export function notifySuccess(message: string): void {
  waiting.push(message);
  for (const listener of listeners) listener();
}

/** Returns the messages that are not shown yet, and forgets them. */
export function takeMessages(): readonly string[] {
  const taken = waiting;
  waiting = [];
  return taken;
}

/** Calls a function after each new message. Returns a function that ends the calls. */
export function subscribeMessages(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
