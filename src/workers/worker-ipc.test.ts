import { EventEmitter } from 'node:events';
import { expect, it, vi } from 'vitest';
import { MARK } from './fork-worker.ts';
import { connectToPrimary } from './worker-ipc.ts';

function createWorld() {
  return Object.assign(new EventEmitter(), { env: { [MARK]: '1' }, send: vi.fn() });
}

it.each([
  ['as its lead says, in whose place another comes', ['message', { say: 'end', value: 'replaced' }], true],
  ['as its lead says', ['message', { say: 'end', value: 'all' }], false],
  ['without a lead', ['disconnect'], false],
] as const)('a worker ends once, %s, whether that is before it listens or after', async (_, [event, ...said], isReplaced) => {
  const world = createWorld();
  const link = connectToPrimary(world);
  const listeners = [vi.fn(), vi.fn()] as const;
  link?.onEnd(listeners[0]);
  world.emit(event, ...said);
  world.emit('disconnect');
  link?.onEnd(listeners[1]);
  await Promise.resolve();
  for (const listener of listeners) expect(listener.mock.calls).toEqual([[{ isReplaced }]]);
});

it('who was forked by somebody else has no lead', () => {
  expect(connectToPrimary(Object.assign(createWorld(), { env: {} }))).toBe(undefined);
});
