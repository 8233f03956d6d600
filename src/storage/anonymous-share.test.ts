import { describe, expect, it } from 'vitest';
import { createSharedQueue, toAnonymousCaller } from './anonymous-share.ts';
import type { LongQueue } from './long-queue.ts';

const [A, B, C] = ['192.0.2.0/24', '198.51.100.0/24', '2001:db8::/64'].map(toAnonymousCaller) as [string, string, string];

/** Adds long attempts that end when `end` is called. Returns the callers in the order in which their attempts begin, and the codes of refusals. */
async function addAll(queue: LongQueue, callers: readonly string[]) {
  const begun: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const added: Promise<string>[] = [];
  for (const caller of callers) {
    const run = queue.run(caller, () => {
      begun.push(caller);
      return promise;
    });
    added.push(run.then(() => 'done').catch((error: { code: string }) => error.code));
    // A place of the share is taken in a later turn.
    await new Promise(setImmediate);
  }
  const end = async (): Promise<readonly string[]> => {
    resolve();
    return Promise.all(added);
  };
  return { begun, end };
}

describe('the share of callers without a token', () => {
  it('the share leaves half of the queue to users, however many networks fill the other half', async () => {
    const queue = createSharedQueue({ concurrency: 1, length: 8 });
    const { end } = await addAll(queue, [A, ...[A, B, C].flatMap((network) => [network, network, network]), 'ada', 'ben', 'eve', 'ann']);
    expect(queue.waiting).toBe(8);
    const outcomes = await end();
    // One runs, and four wait: two of a network at most.
    expect(outcomes.slice(0, 10)).toEqual(['done', 'done', 'done', 'STORAGE_BUSY', 'done', 'done', ...Array(4).fill('STORAGE_BUSY')]);
    expect(outcomes.slice(10)).toEqual(['done', 'done', 'done', 'done']);
    expect([queue.refused, queue.running, queue.waiting]).toEqual([5, 0, 0]);
  });

  it('its networks take the turns of one caller in turn', async () => {
    const queue = createSharedQueue({ concurrency: 1, length: 20 });
    const { begun, end } = await addAll(queue, ['ada', A, A, A, B, 'ada', 'ada', 'ben']);
    await end();
    expect(begun).toEqual(['ada', A, 'ada', 'ben', 'ada', A, B, A]);
  });

  it('the queue waits for all long attempts before it closes, and refuses later ones', async () => {
    const queue = createSharedQueue({ concurrency: 1, length: 8 });
    const { end } = await addAll(queue, ['ada', A, B]);
    const closing = queue.close();
    const late = [A, 'ada', 'ben'].map((caller) => queue.run(caller, async () => 1));
    for (const each of await Promise.allSettled(late)) expect(each).toMatchObject({ reason: { code: 'STORAGE_UNAVAILABLE' } });
    expect(await end()).toEqual(['done', 'done', 'done']);
    await closing;
  });
});
