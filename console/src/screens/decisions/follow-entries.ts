/** The stream of the audit log, opened again when its connection is lost. */
import type { StreamEvent } from '../../api/event-stream.ts';
import { RequestError } from '../../api/problem.ts';
import type { Entry } from './queries.ts';

/** Milliseconds before a lost connection is opened again. */
const RECONNECT_AFTER = 2000;

/** Reasons with which the service ends a stream that it would open again. */
const TEMPORARY_ENDS: ReadonlySet<unknown> = new Set(['expired', 'shutdown', 'unavailable']);

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
 * Follows the stream until the signal or the service ends it. A lost connection is opened again after the last received position, so that no
 * entry is missing or repeated; so is a stream whose token has expired. A refusal is final.
 */
export async function followEntries(open: OpenStream, signal: AbortSignal, listener: EntryListener): Promise<void> {
  let after: string | undefined;
  while (!signal.aborted) {
    try {
      for await (const { name, data, id } of open(after, () => listener.onConnection(true))) {
        after = id ?? after;
        if (data === '') continue;
        const content = JSON.parse(data);
        if (name === 'entry') listener.onEntry(content);
        else if (name === 'dropped') listener.onDropped(content.count);
        else if (name === 'end') {
          // The next request has a new token, or is answered by a service that has started again.
          if (TEMPORARY_ENDS.has(content.reason)) break;
          return listener.onEnd(content.detail ?? content.reason);
        }
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
