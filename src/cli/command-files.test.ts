import { execFileSync } from 'node:child_process';
import fs, { chmodSync, closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { openInput, writeOutput } from './command-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function* pieces(...all: readonly (string | Error)[]): AsyncGenerator<string> {
  for (const piece of all) {
    if (piece instanceof Error) throw piece;
    yield piece;
  }
}

function write(path: string, content: AsyncIterable<string>, options = { force: false }): Promise<void> {
  return writeOutput(path, async () => content, options);
}

describe('files of commands', () => {
  it('reads a file as it was written', async () => {
    const path = join(folder, 'whole');
    await write(path, pieces('a\n', 'ü\n'));
    const chunks: Uint8Array[] = [];
    for await (const chunk of await openInput(path)) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('a\nü\n');
  });

  it('removes a new file if writing fails, and keeps an existing file', async () => {
    const path = join(folder, 'broken');
    await expect(write(path, pieces('a\n', new Error('revoked')))).rejects.toThrow('revoked');
    await write(path, pieces('before'));
    await expect(write(path, pieces('after', new Error('revoked')), { force: true })).rejects.toThrow('revoked');
    expect(readFileSync(path, 'utf8')).toBe('before');
    expect(readdirSync(folder).filter((name) => name.startsWith('broken'))).toEqual(['broken']);
  });

  it.each(['write', 'fsync'] as const)('an error of the system call %s on the open file names the file', async (syscall) => {
    const path = join(folder, `full-${syscall}`);
    const full = vi.spyOn(fs, syscall).mockImplementation((...args: readonly unknown[]) => {
      (args.at(-1) as (error: Error) => void)(Object.assign(new Error('no space'), { code: 'ENOSPC', syscall }));
    });
    try {
      await expect(write(path, pieces('a\n'))).rejects.toMatchObject({ code: 'ENOSPC', path });
    } finally {
      full.mockRestore();
    }
  });

  it('refuses an existing file before its content is requested, and replaces it with force', async () => {
    const path = join(folder, 'existing');
    await write(path, pieces('first'));
    const open = vi.fn(async () => pieces('second'));
    await expect(writeOutput(path, open, { force: false })).rejects.toThrow(`${path} exists`);
    expect([open.mock.calls, readFileSync(path, 'utf8')]).toEqual([[], 'first']);
    await writeOutput(path, open, { force: true });
    expect(readFileSync(path, 'utf8')).toBe('second');
  });

  it.each(['a named pipe', 'a device'])('refuses %s in place of the file, with and without force', async (kind) => {
    const path = join(folder, kind.replaceAll(' ', '-'));
    if (kind === 'a device') symlinkSync('/dev/null', path);
    else execFileSync('mkfifo', [path]);
    const open = vi.fn(async () => pieces('content'));
    for (const force of [false, true]) await expect(writeOutput(path, open, { force })).rejects.toThrow(`${path} is not a regular file`);
    expect([open.mock.calls, statSync(path).isFile()]).toEqual([[], false]);
  });

  it.each([0o600, 0o664])('keeps the mode of a file that force replaces: %o', async (mode) => {
    const path = join(folder, `mode-${mode}`);
    await write(path, pieces('first'));
    chmodSync(path, mode);
    await write(path, pieces('second'), { force: true });
    expect([statSync(path).mode & 0o777, readFileSync(path, 'utf8')]).toEqual([mode, 'second']);
  });

  it('refuses a file before its content is requested if the folder does not exist', async () => {
    const open = vi.fn(async () => pieces('content'));
    for (const force of [false, true]) {
      await expect(writeOutput(join(folder, 'none', 'file.csv'), open, { force })).rejects.toThrow(join(folder, 'none'));
    }
    expect(open).not.toHaveBeenCalled();
  });

  it('one of several concurrent writers writes the file', async () => {
    const path = join(folder, 'raced');
    const done = await Promise.allSettled(Array.from({ length: 8 }, (_, index) => write(path, pieces(`${index}`))));
    const won = done.findIndex(({ status }) => status === 'fulfilled');
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(readFileSync(path, 'utf8')).toBe(`${won}`);
    expect(readdirSync(folder).filter((name) => name.startsWith('raced'))).toEqual(['raced']);
  });

  it('writing ends with the reason of an aborted signal', async () => {
    const path = join(folder, 'long');
    await write(path, pieces('x'.repeat(1_000_000)));
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      for await (const _ of await openInput(path, stop.signal)) stop.abort(new Error('interrupted'));
    };
    await expect(read()).rejects.toThrow('interrupted');
  });

  it('refuses a folder at once', async () => {
    await expect(openInput(folder)).rejects.toThrow(/found a folder/);
  });

  it('refuses a folder as standard input', () => {
    const module = JSON.stringify(new URL('./command-files.ts', import.meta.url).href);
    const script = `import(${module}).then(({ openInput }) => openInput('-')).catch(({ message }) => console.log(message))`;
    const standardInput = openSync(folder, 'r');
    const printed = execFileSync(process.execPath, ['-e', script], { stdio: [standardInput, 'pipe', 'inherit'], encoding: 'utf8' });
    closeSync(standardInput);
    expect(printed).toBe('expected a file, found a folder on standard input\n');
  });

  it('refuses a missing file at once', async () => {
    await expect(openInput(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
