/** Server-sent events over fetch: EventSource cannot send a bearer token. */
import { sendAuthorized } from './client.ts';
import { readProblem } from './problem.ts';

/** A server-sent event. */
export interface StreamEvent {
  readonly name: string;
  /** Empty if the event has only a position. */
  readonly data: string;
  /** The position to resume after. */
  readonly id: string | undefined;
}

/** Parses a stream of characters into events. Pieces may end anywhere; comments, which keep the connection open, are left out. */
export async function* parseEvents(pieces: AsyncIterable<string>): AsyncGenerator<StreamEvent> {
  let rest = '';
  for await (const piece of pieces) {
    const blocks = (rest + piece).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event !== undefined) yield event;
    }
  }
}

function parseEvent(block: string): StreamEvent | undefined {
  let name = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, '');
    const field = line.slice(0, colon);
    if (field === 'event') name = value;
    else if (field === 'id') id = value;
    else if (field === 'data') data.push(value);
  }
  return data.length === 0 && id === undefined ? undefined : { name, data: data.join('\n'), id };
}

/** Opens a stream of events, which ends with the signal. Calls `onOpen` when the service has accepted it. @throws RequestError if the service refuses it */
export async function* openEvents(url: URL, signal: AbortSignal, onOpen: () => void): AsyncGenerator<StreamEvent> {
  const response = await sendAuthorized(new Request(url, { signal, headers: { accept: 'text/event-stream' } }));
  if (!response.ok || response.body === null) throw await readProblem(response);
  onOpen();
  yield* parseEvents(readText(response.body));
}

async function* readText(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
