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
    const windows = createRefusalWindows<string>();
    const ids = await Promise.all(['a', 'b', 'a', 'a', 'b'].map((kind) => windows.record(kind, 'refused', commit)));
    expect([ids, count()]).toEqual([['1', '2', '1', '1', '2'], 2]);
  });

  it('commits another entry after the window', async () => {
    const { commit } = counter();
    const windows = createRefusalWindows<string>({ windowMs: 5 });
    expect(await windows.record('a', 'refused', commit)).toBe('1');
    await pause(10);
    expect(await windows.record('a', 'refused', commit)).toBe('2');
  });

  it('lets all refusals of a window wait until its entry is committed', async () => {
    const windows = createRefusalWindows<string>();
    const { promise, resolve } = Promise.withResolvers<string>();
    const settled: string[] = [];
    const refusals = [1, 2].map(async () => settled.push(await windows.record('a', 'refused', () => promise)));
    await pause(1);
    expect(settled).toEqual([]);
    resolve('committed');
    await Promise.all(refusals);
    expect(settled).toEqual(['committed', 'committed']);
  });

  it('fails all refusals of a window whose entry cannot be committed, and tries again for the next', async () => {
    const { commit } = counter();
    const windows = createRefusalWindows<string>();
    const fail = (): Promise<string> => Promise.reject(new Error('disk full'));
    const results = await Promise.allSettled([windows.record('a', 'refused', fail), windows.record('a', 'refused', commit)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await windows.record('a', 'refused', commit)).toBe('1');
  });

  it('commits one entry for all further kinds above the maximum number of windows', async () => {
    const { commit, count } = counter();
    const windows = createRefusalWindows<string>({ maxWindows: 3 });
    for (let host = 0; host < 100; host++) await windows.record(`host ${host}`, 'refused', commit);
    expect(count()).toBe(4);
  });

  describe('takeRepeats', () => {
    it('returns the number of refusals after the first of each window that has ended, once', async () => {
      const { commit } = counter();
      const windows = createRefusalWindows<string>({ windowMs: 200 });
      const since = Date.now();
      for (const kind of ['a', 'b', 'a', 'a']) await windows.record(kind, `first ${kind}`, commit);
      await pause(210);
      await windows.record('a', 'later', commit);
      const [found, ...others] = windows.takeRepeats('ended');
      expect([found, others]).toMatchObject([{ refusal: 'first a', entryId: '1', count: 2 }, []]);
      expect([found?.since, found?.last].every((at) => Number(at) >= since && Number(at) <= Date.now())).toBe(true);
      expect(windows.takeRepeats('all')).toEqual([]);
    });

    it('returns the numbers of open windows too, if all are taken', async () => {
      const { commit } = counter();
      const windows = createRefusalWindows<string>();
      for (const kind of ['a', 'a', 'b']) await windows.record(kind, kind, commit);
      expect(windows.takeRepeats('ended')).toEqual([]);
      expect(windows.takeRepeats('all')).toMatchObject([{ refusal: 'a', count: 1 }]);
    });

    it('names no refusal for the window of all further kinds', async () => {
      const { commit } = counter();
      const windows = createRefusalWindows<string>({ maxWindows: 1 });
      for (const kind of ['a', 'b', 'c', 'd']) await windows.record(kind, kind, commit);
      expect(windows.takeRepeats('all')).toMatchObject([{ refusal: undefined, entryId: '2', count: 2 }]);
    });

    it('leaves a window open until its entry is committed', async () => {
      const windows = createRefusalWindows<string>({ windowMs: 0 });
      const { promise, resolve } = Promise.withResolvers<string>();
      const refusals = [1, 2].map(() => windows.record('a', 'a', () => promise));
      expect(windows.takeRepeats('all')).toEqual([]);
      resolve('1');
      await Promise.all(refusals);
      expect(windows.takeRepeats('all')).toMatchObject([{ entryId: '1', count: 1 }]);
    });

    it('returns numbers that were put back because they could not be stored', async () => {
      const { commit } = counter();
      const windows = createRefusalWindows<string>();
      for (const kind of ['a', 'a']) await windows.record(kind, kind, commit);
      const taken = windows.takeRepeats('all');
      windows.restoreRepeats(taken);
      expect(windows.takeRepeats('ended')).toEqual(taken);
    });
  });
});
