import { describe, expect, it } from 'vitest';
import { parseEvents, type StreamEvent } from './event-stream.ts';

const TEXT =
  ': ping\n\nid: 1\nevent: entry\ndata: {"id":"a"}\n\nevent: dropped\ndata: {"count":3}\n\nid: 2\n\ndata: first\ndata: second\n\n';

async function eventsOf(pieces: readonly string[]): Promise<StreamEvent[]> {
  async function* send() {
    yield* pieces;
  }
  const events: StreamEvent[] = [];
  for await (const event of parseEvents(send())) events.push(event);
  return events;
}

describe('parseEvents', () => {
  const expected = [
    { name: 'entry', data: '{"id":"a"}', id: '1' },
    { name: 'dropped', data: '{"count":3}', id: undefined },
    { name: 'message', data: '', id: '2' },
    { name: 'message', data: 'first\nsecond', id: undefined },
  ];

  it('returns events with name, data and position, also positions without data, and leaves out comments', async () => {
    expect(await eventsOf([TEXT])).toEqual(expected);
  });

  it('returns the same events if each character arrives alone', async () => {
    expect(await eventsOf([...TEXT])).toEqual(expected);
  });

  it('returns no event that is cut off', async () => {
    expect(await eventsOf(['data: half'])).toEqual([]);
  });
});
