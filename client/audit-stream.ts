/** The live stream of the audit log: server-sent events over `fetch`, because `EventSource` cannot send a token. */

import type { AuditEntry } from './generated/service-types.ts';
import { ProblemError } from './problem-error.ts';
import { sleep, type Transport } from './transport.ts';

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

const PAUSE_MILLISECONDS = 1000;

/**
 * Yields the entries of the audit log as they are committed, until the signal is aborted. After an interruption it connects again and resumes after the
 * last event. @throws ProblemError if the service refuses the stream, also when it connects again
 */
export async function* streamAudit({ send }: Transport, options: AuditStreamOptions = {}): AsyncGenerator<AuditEvent, void> {
  const { filter, signal } = options;
  let position = options.after;
  while (!signal?.aborted) {
    try {
      const response = await send({ method: 'GET', path: '/admin/api/decisions/stream', query: { ...filter, after: position }, signal });
      for await (const { name, data, id } of readEvents(response)) {
        position = id ?? position;
        if (name === 'entry') yield { entry: JSON.parse(data) as AuditEntry, position };
        if (name === 'dropped') yield { dropped: (JSON.parse(data) as { readonly count: number }).count, position };
      }
    } catch (error) {
      if (error instanceof ProblemError) throw error;
    }
    await sleep(PAUSE_MILLISECONDS, signal);
  }
}

interface ServerEvent {
  readonly name: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** Parses server-sent events. Pieces may end anywhere. */
async function* readEvents({ body }: Response): AsyncGenerator<ServerEvent, void> {
  const reader = (body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const blocks = (rest + piece.value).split('\n\n');
      rest = blocks.pop() ?? '';
      yield* blocks.map(parseEvent);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Parses an event. A comment with an id has the data ''. */
function parseEvent(block: string): ServerEvent {
  const lines = block.split('\n');
  const readField = (field: string): string | undefined => lines.find((line) => line.startsWith(`${field}: `))?.slice(field.length + 2);
  return { name: readField('event') ?? '', data: readField('data') ?? '', id: readField('id') };
}
