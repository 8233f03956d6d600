/** The stream of the audit log, opened again when its connection is lost. */
import type { StreamEvent } from '../../api/event-stream.ts';
import { RequestError } from '../../api/problem.ts';
import type { Entry } from './queries.ts';

/** Milliseconds before a lost connection is opened again. */
const RECONNECT_AFTER = 2000;

/** A reader of the stream. */
export interface EntryListener {
  onEntry(entry: Entry): void;
  onDropped(count: number): void;
  onEnd(reason: string | undefined): void;
  /** Called with false when the connection is lost, and with true when it is open again. */
  onConnection(isOpen: boolean): void;
}

/** Opens the stream after a position. Calls `onOpen` when the service has accepted it. */
export type OpenStream = (after: string | undefined, onOpen: () => void) => AsyncIterable<StreamEvent>;

/**
 * Follows the stream until the signal ends it or the service does. A lost connection is opened again after the last received position, so that no
 * entry is missing or repeated. A refusal is final.
 */
export async function followEntries(open: OpenStream, signal: AbortSignal, listener: EntryListener): Promise<void> {
  let after: string | undefined;
  while (!signal.aborted) {
    try {
      for await (const { name, data, id } of open(after, () => listener.onConnection(true))) {
        after = id ?? after;
        const content = JSON.parse(data);
        if (name === 'entry') listener.onEntry(content);
        else if (name === 'dropped') listener.onDropped(content.count);
        else if (name === 'end') return listener.onEnd(content.detail ?? content.reason);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isRefusal(error)) return listener.onEnd(error.message);
    }
    listener.onConnection(false);
    await new Promise((done) => setTimeout(done, RECONNECT_AFTER));
  }
}

function isRefusal(error: unknown): error is RequestError {
  return error instanceof RequestError && error.problem.status !== 0 && error.problem.status < 500;
}
