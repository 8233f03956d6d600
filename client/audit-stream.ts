/** The live stream of the audit log: server-sent events over `fetch`, because `EventSource` cannot send a token. */

import { requireType } from './content-type.ts';
import type { AuditEntry } from './generated/service-types.ts';
import { fromNetwork, Interruption } from './interruption.ts';
import type { Transport } from './transport.ts';
import { sleep } from './waits.ts';

/** An event of the audit log: an entry, or the number of entries that were not sent because the program did not keep up. */
export type AuditEvent = ({ readonly entry: AuditEntry } | { readonly dropped: number }) & {
  /** The position to resume after. */
  readonly position: string | undefined;
};

/** The entries to receive. */
export interface AuditStreamOptions {
  /** The filters of a search of the audit log, such as `{ resource: 'Article', allowed: false }`. */
  readonly filter?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** The position of the last received event. Without it, the stream begins with the next entry. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const LONGEST_PAUSE_SECONDS = 30;

/** The maximum characters of an event. The service sends shorter ones; a body without an end of an event would fill the memory. */
const LONGEST_EVENT = 16_777_216;

/**
 * Yields the entries of the audit log as they are committed, until the signal is aborted. After an interruption it connects again and resumes after the
 * last event. @throws ProblemError if the service refuses the stream, also when it connects again; and mistakes of the program
 */
export async function* streamAudit({ open, session }: Transport, options: AuditStreamOptions = {}): AsyncGenerator<AuditEvent, void> {
  const { filter, signal } = options;
  const caller = session.caller();
  let position = options.after;
  for (let failures = 0; !signal?.aborted; ) {
    try {
      const response = await open(
        { method: 'GET', path: '/admin/api/decisions/stream', query: { ...filter, after: position }, signal },
        caller,
      );
      failures = 0;
      for await (const { name, data, id } of readEvents(response)) {
        position = id ?? position;
        if (name === 'entry') yield { entry: JSON.parse(data) as AuditEntry, position };
        if (name === 'dropped') yield { dropped: (JSON.parse(data) as { readonly count: number }).count, position };
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof Interruption)) throw error;
      failures += 1;
    }
    await sleep(pauseAfter(failures), signal);
  }
}

/** Returns the milliseconds to wait before the next connection: about a second, and twice as long after each failure to connect. */
function pauseAfter(failures: number): number {
  // The random part keeps clients that failed at the same time apart.
  return Math.min(2 ** failures, LONGEST_PAUSE_SECONDS) * (900 + Math.random() * 100);
}

interface ServerEvent {
  readonly name: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** Parses server-sent events. Pieces may end anywhere. */
async function* readEvents(response: Response): AsyncGenerator<ServerEvent, void> {
  const reader = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream()).getReader();
  const read = (): ReturnType<typeof reader.read> => fromNetwork(reader.read());
  let rest = '';
  try {
    // Another service at this address answers with a page, which has no events and no end of them.
    requireType(response, /event/, 'events');
    for (let piece = await read(); !piece.done; piece = await read()) {
      const blocks = (rest + piece.value).split('\n\n');
      rest = blocks.pop() ?? '';
      if (rest.length > LONGEST_EVENT) throw new TypeError(`expected events of at most ${LONGEST_EVENT} characters`);
      yield* blocks.map(parseEvent);
    }
  } finally {
    // The reader has what it needs: a connection that cannot be closed is broken.
    await reader.cancel().catch(() => undefined);
  }
}

/** Parses an event. A comment with an id has the data ''. */
function parseEvent(block: string): ServerEvent {
  const lines = block.split('\n');
  const readField = (field: string): string | undefined => lines.find((line) => line.startsWith(`${field}: `))?.slice(field.length + 2);
  return { name: readField('event') ?? '', data: readField('data') ?? '', id: readField('id') };
}
