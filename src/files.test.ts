import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openInput, writeOutput } from './files.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function* pieces(...all: readonly (string | Error)[]): AsyncGenerator<string> {
  for (const piece of all) {
    if (piece instanceof Error) throw piece;
    yield piece;
  }
}

describe('files', () => {
  it('are read as they were written', async () => {
    const path = join(folder, 'whole');
    await writeOutput(path, pieces('a\n', 'ü\n'));
    const chunks: Uint8Array[] = [];
    for await (const chunk of await openInput(path)) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('a\nü\n');
  });

  it('that break off are not there, and leave what was there before', async () => {
    const path = join(folder, 'broken');
    await expect(writeOutput(path, pieces('a\n', new Error('revoked')))).rejects.toThrow('revoked');
    expect([existsSync(path), existsSync(`${path}.part`)]).toEqual([false, false]);
    await writeOutput(path, pieces('before'));
    await expect(writeOutput(path, pieces('after', new Error('revoked')))).rejects.toThrow('revoked');
    expect(readFileSync(path, 'utf8')).toBe('before');
  });

  it('that somebody stops reading end with the reason', async () => {
    const path = join(folder, 'long');
    await writeOutput(path, pieces('x'.repeat(1_000_000)));
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      for await (const _ of await openInput(path, stop.signal)) stop.abort(new Error('interrupted'));
    };
    await expect(read()).rejects.toThrow('interrupted');
  });

  it('that are folders are told at once', async () => {
    await expect(openInput(folder)).rejects.toThrow('expected a file, found a folder in');
  });

  it('that are not there are told at once', async () => {
    await expect(openInput(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
