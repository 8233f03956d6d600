import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { connectToPrimary, createIpcChannel, type IpcChannel, type MessageHandlers, type MessagePort, WORKER_ENV } from './worker-ipc.ts';

/** Connects two channels, copies messages like real processes, and returns the channel whose other side has the handlers. */
function createChannelTo(handlers: MessageHandlers): IpcChannel {
  const listeners: ((message: unknown) => void)[] = [];
  const portOf = (own: number, other: number): MessagePort => ({
    send: (message) => queueMicrotask(() => listeners[other]?.(JSON.parse(JSON.stringify(message)))),
    onMessage(listener) {
      listeners[own] = listener;
    },
  });
  createIpcChannel(portOf(1, 0), handlers);
  return createIpcChannel(portOf(0, 1), {});
}

describe('an IPC channel', () => {
  it('delivers notifications and replies', async () => {
    const received: unknown[] = [];
    const channel = createChannelTo({
      notifications: { name: (value) => void received.push(value) },
      requests: { sum: async () => [1, 2] },
    });
    channel.notify('name', { a: 1 });
    channel.notify('without a handler');
    expect(await Promise.all([channel.request('sum'), channel.request('sum')])).toEqual([
      [1, 2],
      [1, 2],
    ]);
    expect(received).toEqual([{ a: 1 }]);
  });

  it('throws the error with which a request failed', async () => {
    const channel = createChannelTo({ requests: { sum: () => Promise.reject(new Error('no sum')) } });
    await expect(channel.request('sum')).rejects.toThrow('no sum');
  });

  it('throws if no reply arrives in time', async () => {
    const channel = createChannelTo({ requests: { sum: () => new Promise(() => undefined) } });
    await expect(channel.request('sum')).rejects.toThrow(/"sum"/);
  });
});

function createWorkerDeps(marker = '{}') {
  return Object.assign(new EventEmitter(), { env: { [WORKER_ENV]: marker }, send: vi.fn() });
}

it.each([
  ['as the primary requests it, to be replaced', ['message', { say: 'end', value: 'replaced' }], true],
  ['as the primary requests it', ['message', { say: 'end', value: 'all' }], false],
  ['when the primary has exited', ['disconnect'], false],
] as const)('a worker ends once, %s, before or after the listener is added', async (_, [event, ...message], isReplaced) => {
  const own = createWorkerDeps();
  const link = connectToPrimary(own);
  const listeners = [vi.fn(), vi.fn()] as const;
  link?.onEnd(listeners[0]);
  own.emit(event, ...message);
  own.emit('disconnect');
  link?.onEnd(listeners[1]);
  await Promise.resolve();
  for (const listener of listeners) expect(listener.mock.calls).toEqual([[{ isReplaced }]]);
});

it.each([
  ['{"BAILIWICK_PORT":"9000"}', { BAILIWICK_PORT: '9000' }],
  ['{}', {}],
  // A primary of an earlier version does not send them.
  ['1', undefined],
])('a worker with the marker %s has the settings that the primary has read from .env: %j', (marker, envFile) => {
  expect(connectToPrimary(createWorkerDeps(marker))?.envFile).toEqual(envFile);
});

it('a process that another program forked has no primary', () => {
  expect(connectToPrimary(Object.assign(createWorkerDeps(), { env: {} }))).toBe(undefined);
});

describe('messages of a primary of the previous version', () => {
  it('a channel sends and receives the messages of earlier versions', async () => {
    const sent: unknown[] = [];
    const listeners: ((message: unknown) => void)[] = [];
    const port: MessagePort = { send: (message) => void sent.push(message), onMessage: (listener) => void listeners.push(listener) };
    const handlers = { sum: async () => 3, broken: () => Promise.reject(new Error('no sum')) };
    const channel = createIpcChannel(port, { requests: handlers });
    channel.notify('ready', 'here');
    const reply = channel.request('text');
    for (const message of [
      { ask: 'sum', id: 7 },
      { ask: 'broken', id: 8 },
      { answer: 1, value: 'metrics' },
    ])
      listeners[0]?.(message);
    expect(await reply).toBe('metrics');
    expect(sent).toEqual([
      { say: 'ready', value: 'here' },
      { ask: 'text', id: 1 },
      { answer: 7, value: 3 },
      { answer: 8, failed: 'no sum' },
    ]);
  });

  it('a worker sends and handles the messages of earlier versions', async () => {
    const own = createWorkerDeps();
    const link = connectToPrimary(own);
    link?.handleRequests({ metrics: async () => [], readiness: async () => ({ ok: true }), accepted: async () => 2 });
    link?.ready('here', ['created tables: Note']);
    link?.sendFinalMetrics([]);
    const released = link?.released();
    for (const [index, ask] of ['values', 'readiness', 'accepted'].entries()) own.emit('message', { ask, id: index });
    own.emit('message', { say: 'released' });
    await released;
    await expect.poll(() => own.send.mock.calls.length).toBe(7);
    expect(own.send.mock.calls.map(([message]) => message)).toEqual([
      // An earlier primary ignores it.
      { say: 'notices', value: ['created tables: Note'] },
      { say: 'ready', value: 'here' },
      { say: 'last', value: [] },
      { say: 'drained' },
      { answer: 0, value: [] },
      { answer: 1, value: { ok: true } },
      { answer: 2, value: 2 },
    ]);
  });
});

it('a worker knows the number of workers that the primary has sent last', () => {
  const own = createWorkerDeps();
  const link = connectToPrimary(own);
  expect(link?.working).toBeUndefined();
  own.emit('message', { say: 'working', value: 2 });
  own.emit('message', { say: 'working', value: 1 });
  expect(link?.working).toBe(1);
});
