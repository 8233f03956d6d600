/** Requests of streams, and readers of their text, for tests. */
import type { TestAdmin } from '../endpoint.fixture.ts';
import type { StreamRequest } from './decision-stream.ts';

/** Creates the request of an admin for the entries about articles. */
export const toStreamRequest = (admin: TestAdmin, members: Partial<StreamRequest> = {}): StreamRequest => ({
  userId: 'ada',
  filter: { resource: 'Article' },
  after: undefined,
  seconds: undefined,
  verifyToken: async () => undefined,
  recordRefusedToken: async () => undefined,
  admitAgain: async (tx) => ({
    admin: { id: 'ada', role: 'admin', attributes: {} },
    snapshot: await admin.deps.policyStore.snapshot(tx),
  }),
  ...members,
});

/** Reads until the text matches; returns all text. */
export async function readUntil(reader: AsyncIterator<string>, pattern: RegExp): Promise<string> {
  let text = '';
  while (!pattern.test(text)) {
    const next = await reader.next();
    if (next.done === true) throw new Error(`the stream ended before ${pattern}: ${text}`);
    text += next.value;
  }
  return text;
}

/** A ping with a position. A stream that has not caught up sends none. */
export const CAUGHT_UP: RegExp = /: ping\nid: /;

/** Returns the data of the events with a name. */
export const eventsOf = (text: string, name: string): readonly Readonly<Record<string, unknown>>[] =>
  text
    .split('\n\n')
    .map((block) => block.split('\n'))
    .filter((lines) => lines.includes(`event: ${name}`))
    .map((lines) => JSON.parse(lines.at(-1)?.slice('data: '.length) ?? ''));
