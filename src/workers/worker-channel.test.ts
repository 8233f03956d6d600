import { describe, expect, it } from 'vitest';
import { type Channel, type Heard, type Line, openChannel } from './worker-channel.ts';

/** Two channels that hear each other, as processes do: what is sent is copied. */
function openPair(heard: Heard): Channel {
  const listeners: ((message: unknown) => void)[] = [];
  const lineOf = (own: number, other: number): Line => ({
    send: (message) => queueMicrotask(() => listeners[other]?.(JSON.parse(JSON.stringify(message)))),
    onMessage(listener) {
      listeners[own] = listener;
    },
  });
  openChannel(lineOf(1, 0), heard);
  return openChannel(lineOf(0, 1), {});
}

describe('a channel', () => {
  it('says and asks', async () => {
    const said: unknown[] = [];
    const channel = openPair({ said: { word: (value) => void said.push(value) }, asked: { sum: async () => [1, 2] } });
    channel.say('word', { a: 1 });
    channel.say('of nobody');
    expect(await Promise.all([channel.ask('sum'), channel.ask('sum')])).toEqual([
      [1, 2],
      [1, 2],
    ]);
    expect(said).toEqual([{ a: 1 }]);
  });

  it('tells what an answer failed with', async () => {
    const channel = openPair({ asked: { sum: () => Promise.reject(new Error('no sum')) } });
    await expect(channel.ask('sum')).rejects.toThrow('no sum');
  });

  it('does not wait for good', async () => {
    const channel = openPair({ asked: { sum: () => new Promise(() => undefined) } });
    await expect(channel.ask('sum')).rejects.toThrow('a process does not answer "sum"');
  });
});
