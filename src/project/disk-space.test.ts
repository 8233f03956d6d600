import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Database, openSqlite } from '../storage/index.ts';
import { createDiskSpace, type DiskLimits, type DiskSpace } from './disk-space.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-disk-'));
const path = join(folder, 'test.db');
const database: Database = openSqlite({ path });
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

const EXABYTE = 1e18;

/** Measures once; returns the measurement and the log lines. */
async function measure(
  limits: DiskLimits,
  address = `sqlite:${path}`,
): Promise<{ readonly disk: DiskSpace; readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const disk = createDiskSpace({ address, database, measuresSize: false, log: (line) => lines.push(line), ...limits });
  await disk.start();
  disk.close();
  return { disk, lines };
}

describe('createDiskSpace', () => {
  it('measures the free bytes of the volume, and the bytes of the database with its write-ahead log', async () => {
    const measured = join(folder, 'measured.db');
    writeFileSync(measured, 'x'.repeat(3000));
    writeFileSync(`${measured}-wal`, 'x'.repeat(5000));
    const { disk, lines } = await measure({ warnBytes: 0, minBytes: 0 }, `sqlite:${measured}`);
    const { bavail, bsize } = statfsSync(folder);
    expect(Math.abs((disk.freeBytes ?? 0) / (bavail * bsize) - 1)).toBeLessThan(0.2);
    expect([disk.databaseBytes, disk.fault, lines]).toEqual([8000, undefined, []]);
  });

  it('warns below diskWarnBytes, and names the path and what to do', async () => {
    const { disk, lines } = await measure({ warnBytes: EXABYTE, minBytes: 0 });
    expect(lines).toEqual([expect.stringMatching(/^warning: only \d+ MiB .*test\.db, less than diskWarnBytes .*; free space, /)]);
    expect(disk.fault).toBeUndefined();
  });

  it('reports a fault without the path below diskMinBytes', async () => {
    const { disk, lines } = await measure({ warnBytes: EXABYTE, minBytes: EXABYTE });
    expect(lines).toEqual([expect.stringMatching(/^error: only \d+ MiB .*diskMinBytes .*\/readyz/)]);
    expect(disk.fault).toBe('the disk of the database is almost full');
  });

  it.each(['sqlite::memory:', 'postgres://localhost/db'])('measures nothing for %s without metrics', async (address) => {
    const { disk, lines } = await measure({ warnBytes: EXABYTE, minBytes: EXABYTE }, address);
    expect([disk.freeBytes, disk.databaseBytes, disk.fault, lines]).toEqual([undefined, undefined, undefined, []]);
  });

  it('logs a failed measurement once, and has no fault', async () => {
    const lines: string[] = [];
    const address = `sqlite:${join(folder, 'missing', 'test.db')}`;
    const options = { address, database, measuresSize: false, warnBytes: EXABYTE, minBytes: EXABYTE, everyMs: 1 };
    const disk = createDiskSpace({ ...options, log: (line) => lines.push(line) });
    await disk.start();
    await new Promise((resolve) => setTimeout(resolve, 30));
    disk.close();
    expect(lines).toEqual([expect.stringMatching(/^cannot measure the space of the database: .*ENOENT/)]);
    expect([disk.freeBytes, disk.fault]).toEqual([undefined, undefined]);
  });
});
