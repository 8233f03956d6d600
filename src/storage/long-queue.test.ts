import { describe, expect, it } from 'vitest';
import { createLongQueue, type LongQueue } from './long-queue.ts';

/** Adds a long attempt that runs until its `end` is called. */
function add(queue: LongQueue, caller: string, begun: string[]): { readonly done: Promise<void>; end(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = queue.run(caller, () => {
    begun.push(caller);
    return promise;
  });
  return { done, end: resolve };
}

describe('createLongQueue', () => {
  it('lets callers take turns', async () => {
    const queue = createLongQueue({ concurrency: 1, length: 10 });
    const begun: string[] = [];
    const added = ['a', 'a', 'a', 'b', 'b', 'c'].map((caller) => add(queue, caller, begun));
    for (const { end } of added) end();
    await Promise.all(added.map(({ done }) => done));
    expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'b']);
  });

  it('runs no more than its concurrency', async () => {
    const queue = createLongQueue({ concurrency: 2, length: 10 });
    const added = ['a', 'b', 'c', 'd'].map((caller) => add(queue, caller, []));
    expect([queue.running, queue.waiting]).toEqual([2, 2]);
    for (const { end } of added) end();
    await Promise.all(added.map(({ done }) => done));
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
  });

  it('runs no more of one caller than it may have at the same time', async () => {
    const queue = createLongQueue({ concurrency: 3, perCaller: 2, length: 10 });
    const begun: string[] = [];
    const [first, ...others] = ['a', 'a', 'a', 'b', 'b'].map((caller) => add(queue, caller, begun));
    await expect.poll(() => begun.join('')).toBe('aab');
    expect([queue.running, queue.waiting]).toEqual([3, 2]);
    first?.end();
    await expect.poll(() => begun.join('')).toBe('aaba');
    for (const { end } of others) end();
    await Promise.all(others.map(({ done }) => done));
    expect([begun.join(''), queue.running, queue.waiting]).toEqual(['aabab', 0, 0]);
  });

  it('refuses a caller who has half of the queue, and every caller when it is full', async () => {
    const queue = createLongQueue({ concurrency: 1, length: 4 });
    const admitted = ['a', 'a', 'a'].map((caller) => add(queue, caller, []));
    const busy = { code: 'STORAGE_BUSY', extras: { retryAfter: 2 } };
    await expect(add(queue, 'a', []).done).rejects.toMatchObject(busy);
    admitted.push(...['b', 'c'].map((caller) => add(queue, caller, [])));
    await expect(add(queue, 'd', []).done).rejects.toMatchObject(busy);
    expect(queue.refused).toBe(2);
    for (const { end } of admitted) end();
    await Promise.all(admitted.map(({ done }) => done));
  });

  it('goes on after work that throws', async () => {
    const queue = createLongQueue({ concurrency: 1, length: 4 });
    await expect(queue.run('a', () => Promise.reject(new Error('wrong')))).rejects.toThrow('wrong');
    expect(await queue.run('a', async () => 1)).toBe(1);
  });

  it('waits for the work that runs before it closes', async () => {
    const queue = createLongQueue({ concurrency: 1, length: 4 });
    const [running, waiting] = ['a', 'b'].map((caller) => add(queue, caller, []));
    let isClosed = false;
    const closing = queue.close().then(() => (isClosed = true));
    await expect(add(queue, 'c', []).done).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    running?.end();
    await running?.done;
    expect(isClosed).toBe(false);
    waiting?.end();
    await closing;
  });

  it('closes at once without work', async () => {
    await createLongQueue({ concurrency: 1, length: 4 }).close();
  });
});
