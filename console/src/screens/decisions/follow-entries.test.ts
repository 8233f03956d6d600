import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StreamEvent } from '../../api/event-stream.ts';
import { RequestError } from '../../api/problem.ts';
import { followEntries } from './follow-entries.ts';

type Connection = () => AsyncGenerator<StreamEvent>;

const event = (name: string, content: unknown, id?: string): StreamEvent => ({ name, data: JSON.stringify(content), id });

/** Follows connections one after the other, and returns what the listener received and the positions after which they were opened. */
async function follow(connections: readonly Connection[]) {
  const received: unknown[] = [];
  const positions: (string | undefined)[] = [];
  const control = new AbortController();
  const following = followEntries(
    (after, onOpen) => {
      positions.push(after);
      const next = connections[positions.length - 1];
      if (next === undefined) control.abort();
      else onOpen();
      return next?.() ?? (async function* () {})();
    },
    control.signal,
    {
      onEntry: ({ id }) => received.push(id),
      onDropped: (count) => received.push(`dropped ${count}`),
      onEnd: (reason) => received.push(`end ${reason}`),
      onConnection: (isOpen) => received.push(isOpen ? 'open' : 'lost'),
    },
  );
  await vi.runAllTimersAsync();
  await following;
  return { received, positions };
}

describe('followEntries', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('reports a lost connection, and resumes after the last position', async () => {
    const { received, positions } = await follow([
      async function* () {
        yield event('entry', { id: 'a' }, '1');
        yield event('dropped', { count: 3 });
        throw new TypeError('network error');
      },
      async function* () {
        yield event('entry', { id: 'b' }, '2');
      },
    ]);
    expect(received).toEqual(['open', 'a', 'dropped 3', 'lost', 'open', 'b', 'lost', 'lost']);
    expect(positions).toEqual([undefined, '1', '2']);
  });

  it('resumes after a position that arrived without an entry', async () => {
    const { received, positions } = await follow([
      async function* () {
        yield { name: 'message', data: '', id: '1' };
        throw new TypeError('network error');
      },
    ]);
    expect(received).toEqual(['open', 'lost', 'lost']);
    expect(positions).toEqual([undefined, '1']);
  });

  it.each(['expired', 'shutdown', 'unavailable'])('opens a stream again that the service ended as %s', async (reason) => {
    const { received, positions } = await follow([
      async function* () {
        yield event('entry', { id: 'a' }, '1');
        yield event('end', { reason });
      },
      async function* () {
        yield event('entry', { id: 'b' }, '2');
        yield event('end', { reason: 'signedOut' });
      },
    ]);
    expect(received).toEqual(['open', 'a', 'lost', 'open', 'b', 'end signedOut']);
    expect(positions).toEqual([undefined, '1']);
  });

  it('opens a stream again that the service could not answer, and ends with a refusal', async () => {
    const refuse = (status: number): Connection =>
      // biome-ignore lint/correctness/useYield: the request is refused before an event
      async function* () {
        throw new RequestError({ title: `status ${status}`, status, code: 'X' });
      };
    expect((await follow([refuse(0), refuse(503), refuse(403)])).received).toEqual([
      'open',
      'lost',
      'open',
      'lost',
      'open',
      'end status 403',
    ]);
  });

  it.each(['signedOut', 'revoked', 'tooMany'])('ends when the service ends it as %s', async (reason) => {
    const { received } = await follow([
      async function* () {
        yield event('end', { reason });
      },
    ]);
    expect(received).toEqual(['open', `end ${reason}`]);
  });
});
