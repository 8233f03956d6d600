/** A message for some seconds. */
export interface Message {
  readonly kind: 'success' | 'warning';
  readonly text: string;
}

/** Messages that are not shown yet. */
let waiting: Message[] = [];
const listeners = new Set<() => void>();

/** Shows for some seconds that a change was made. Screen readers announce it. */
export function notifySuccess(text: string): void {
  notify({ kind: 'success', text });
}

/** Shows for some seconds a warning about a change that was made. Screen readers announce it. */
export function notifyWarning(text: string): void {
  notify({ kind: 'warning', text });
}

function notify(message: Message): void {
  waiting.push(message);
  for (const listener of listeners) listener();
}

/** Returns the messages that are not shown yet, and forgets them. */
export function takeMessages(): readonly Message[] {
  const taken = waiting;
  waiting = [];
  return taken;
}

/** Calls a function after each new message. Returns a function that ends the calls. */
export function subscribeMessages(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
