/** A client of Server-Sent Events, for tests. */
import { type IncomingMessage, request } from 'node:http';

/** An event of a stream. */
export interface ReceivedEvent {
  readonly name: string;
  readonly id: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An open stream. */
export interface EventStream {
  readonly status: number;
  readonly response: IncomingMessage;
  /** The events received so far. */
  readonly events: readonly ReceivedEvent[];
  /** The text received so far. */
  readonly text: () => string;
  /** The last `id` received, also of comments. */
  readonly lastId: () => string | undefined;
  /** Resolves with the first event that matches; rejects if the stream ends before. */
  find(matches: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent>;
  /** Resolves when the connection is closed. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Opens a stream. */
export async function openEventStream(url: string, headers: Readonly<Record<string, string>>): Promise<EventStream> {
  const response = await new Promise<IncomingMessage>((done, fail) => {
    request(url, { headers, agent: false }, done).on('error', fail).end();
  });
  const events: ReceivedEvent[] = [];
  const waiting = new Set<() => void>();
  let text = '';
  let parsed = 0;
  let lastId: string | undefined;
  let isEnded = false;
  const wake = (): void => {
    for (const each of waiting) each();
  };
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n\n', parsed); end >= 0; end = text.indexOf('\n\n', parsed)) {
      const { event, id } = parseEvent(text.slice(parsed, end));
      lastId = id ?? lastId;
      if (event !== undefined) events.push(event);
      parsed = end + 2;
    }
    wake();
  });
  const ended = new Promise<void>((done) => response.once('close', done)).then(() => {
    isEnded = true;
    wake();
  });
  // An aborted response is an end like any other here.
  response.on('error', () => undefined);
  return {
    status: response.statusCode ?? 0,
    response,
    events,
    text: () => text,
    lastId: () => lastId,
    ended,
    async find(matches) {
      for (;;) {
        const found = events.find(matches);
        if (found !== undefined) return found;
        if (isEnded) throw new Error(`the stream ended without the event; its text was ${text.slice(-500)}`);
        await new Promise<void>((done) => {
          const once = (): void => {
            waiting.delete(once);
            done();
          };
          waiting.add(once);
        });
      }
    },
    close: () => response.destroy(),
  };
}

function parseEvent(block: string): { readonly event: ReceivedEvent | undefined; readonly id: string | undefined } {
  const fields = new Map(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).replace(/^ /, '')]),
  );
  const [id, name, data] = [fields.get('id'), fields.get('event'), fields.get('data')];
  return { id, event: name === undefined || data === undefined ? undefined : { name, id, data: JSON.parse(data) } };
}
