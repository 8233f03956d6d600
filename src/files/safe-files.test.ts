import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFile, makeFolder, readRegularFile } from './safe-files.ts';

/** Code of a thread that creates and removes a file until it is terminated. */
const CREATE_AND_REMOVE = `
  const { rmSync, writeFileSync } = require('node:fs');
  const { parentPort, workerData } = require('node:worker_threads');
  parentPort.postMessage('started');
  for (;;) {
    writeFileSync(workerData, '');
    rmSync(workerData);
  }
`;

let folder: string;
const at = (name: string): string => join(folder, name);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-files-'));
  writeFileSync(at('file'), 'content');
  writeFileSync(at('large'), '');
  truncateSync(at('large'), 1e12);
  mkdirSync(at('folder'));
  execFileSync('mkfifo', [at('pipe')]);
  symlinkSync(at('file'), at('link'));
  symlinkSync(at('nothing'), at('dangling'));
  symlinkSync(at('circle'), at('circle'));
  symlinkSync('/dev/zero', at('zero'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('readRegularFile', () => {
  it('reads a file, also through a link', () => {
    expect(readRegularFile(at('file'), 7).toString()).toBe('content');
    expect(readRegularFile(at('link'), 7).toString()).toBe('content');
  });

  it.each([
    ['pipe', /named pipe/],
    ['folder', /found a folder/],
    ['zero', /device/],
    ['file', /6 bytes.* 7$/],
    ['large', /6 bytes.* 1000000000000$/],
  ])('refuses %s without reading it', (name, message) => {
    expect(() => readRegularFile(at(name), 6)).toThrow(message);
  });

  it.skipIf(!existsSync('/proc/self/maps'))('refuses a file that is longer than its size says', () => {
    expect(statSync('/proc/self/maps').size).toBe(0);
    expect(() => readRegularFile('/proc/self/maps', 100)).toThrow(/100 bytes.*more/);
  });
});

describe('makeFolder', () => {
  it('creates the missing folders of a path with the given mode', () => {
    makeFolder(at('folder/a/b'), 0o700);
    makeFolder(at('folder/a/b'), 0o700);
    expect([statSync(at('folder/a')).mode & 0o777, statSync(at('folder/a/b')).mode & 0o777]).toEqual([0o700, 0o700]);
  });

  it.each([
    ['file', /found a file/],
    ['file/x', /found a file at .*\/file$/],
    ['file/x/y', /found a file at .*\/file$/],
    ['pipe', /named pipe/],
    ['dangling', /link.*not exist/],
    ['dangling/x', /link.*not exist/],
    ['circle/x', /ELOOP/],
  ])('refuses to make the folder %s', (name, message) => {
    expect(() => makeFolder(at(name))).toThrow(message);
  });

  it.skipIf(!existsSync('/proc/self'))('fails on a file system that cannot create folders', () => {
    expect(() => makeFolder('/proc/bailiwick/x')).toThrow(/\/proc\/bailiwick: ENOENT/);
  });
});

describe('findFile', () => {
  it('follows links, and returns undefined if there is no file', () => {
    expect(findFile(at('link'))?.isFile()).toBe(true);
    expect(findFile(at('nothing'))).toBe(undefined);
  });

  it('returns a file or undefined while another process creates and removes the file', async () => {
    const other = new Worker(CREATE_AND_REMOVE, { eval: true, workerData: at('short-lived') });
    await once(other, 'message');
    const found = new Set<boolean>();
    for (let n = 0; n < 50_000 || (found.size < 2 && n < 5_000_000); n++) found.add(findFile(at('short-lived')) !== undefined);
    await other.terminate();
    expect(found).toEqual(new Set([true, false]));
  });
});
