import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReaderPool } from './reader-pool.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-readers-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Creates a pool whose log is larger than its maximum, and truncated in the given attempt. The attempts before it do nothing, or fail. */
function createPool({ truncatedIn, fails = false }: { readonly truncatedIn: number; readonly fails?: boolean }) {
  const path = join(folder, 'wal');
  writeFileSync(path, 'too long');
  let attempts = 0;
  const reader = { query: async () => ({ rows: [], milliseconds: 0 }), end: async () => undefined, close: async () => undefined };
  const truncate = (): void => {
    if (++attempts === truncatedIn) truncateSync(path);
    else if (fails) throw new Error('disk full');
  };
  const log = { path, maxBytes: 4, truncate };
  const pool = createReaderPool({ readers: 2, queueLength: 10, createReader: () => reader, log, cancel: () => undefined });
  return { pool, attempts: () => attempts };
}

describe('a write-ahead log above its maximum size', () => {
  it('readers wait until the log was truncated, which a snapshot of another process prevents', async () => {
    const { pool, attempts } = createPool({ truncatedIn: 3 });
    expect(await Promise.all(['a', 'b'].map((caller) => pool.lend(caller, async () => attempts())))).toEqual([3, 3]);
    await pool.close();
  });

  it('readers wait while the truncation fails, and no attempt is lost', async () => {
    const { pool, attempts } = createPool({ truncatedIn: 3, fails: true });
    expect(await Promise.all(['a', 'b'].map((caller) => pool.lend(caller, async () => attempts())))).toEqual([3, 3]);
    await pool.close();
    expect([pool.queue.running, pool.queue.waiting]).toEqual([0, 0]);
  });

  it('readers wait no longer than a second for a snapshot of another process', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const { pool } = createPool({ truncatedIn: Number.POSITIVE_INFINITY });
      let isLent = false;
      const lent = pool.lend('a', async () => {
        isLent = true;
      });
      await vi.advanceTimersByTimeAsync(900);
      expect(isLent).toBe(false);
      await vi.advanceTimersByTimeAsync(200);
      await lent;
      expect(isLent).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });
});
