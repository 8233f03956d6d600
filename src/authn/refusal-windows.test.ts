import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createRefusalWindows } from './refusal-windows.ts';

describe('createRefusalWindows', () => {
  /** Returns a function that commits entries with the ids 1, 2, 3 …, and the number of committed entries. */
  function counter(): { readonly count: () => number; readonly commit: () => Promise<string> } {
    let count = 0;
    return { count: () => count, commit: async () => String(++count) };
  }

  it('commits one entry per kind in a window, and returns its id to all refusals of the window', async () => {
    const { commit, count } = counter();
    const windows = createRefusalWindows();
    const ids = await Promise.all(['a', 'b', 'a', 'a', 'b'].map((kind) => windows.record(kind, commit)));
    expect([ids, count()]).toEqual([['1', '2', '1', '1', '2'], 2]);
  });

  it('commits another entry after the window', async () => {
    const { commit } = counter();
    const windows = createRefusalWindows({ windowMs: 5 });
    expect(await windows.record('a', commit)).toBe('1');
    await pause(10);
    expect(await windows.record('a', commit)).toBe('2');
  });

  it('lets all refusals of a window wait until its entry is committed', async () => {
    const windows = createRefusalWindows();
    const { promise, resolve } = Promise.withResolvers<string>();
    const settled: string[] = [];
    const refusals = [1, 2].map(async () => settled.push(await windows.record('a', () => promise)));
    await pause(1);
    expect(settled).toEqual([]);
    resolve('committed');
    await Promise.all(refusals);
    expect(settled).toEqual(['committed', 'committed']);
  });

  it('fails all refusals of a window whose entry cannot be committed, and tries again for the next', async () => {
    const { commit } = counter();
    const windows = createRefusalWindows();
    const fail = (): Promise<string> => Promise.reject(new Error('disk full'));
    const results = await Promise.allSettled([windows.record('a', fail), windows.record('a', commit)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await windows.record('a', commit)).toBe('1');
  });

  it('commits one entry for all further kinds above the maximum number of windows', async () => {
    const { commit, count } = counter();
    const windows = createRefusalWindows({ maxWindows: 3 });
    for (let host = 0; host < 100; host++) await windows.record(`host ${host}`, commit);
    expect(count()).toBe(4);
  });
});
