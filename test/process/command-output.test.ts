/** Commands whose output cannot be written, or whose reader is slow or goes away. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleProgram } from './bundle.ts';
import { expectDone, type Program, type Reply, runUnread, send, setUp, startProgram } from './program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bailiwick-output-'));
const place: readonly string[] = ['--project', 'examples/newsroom', '--data', join(folder, 'data')];
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let program: Program;
let token: string;
beforeAll(async () => {
  program = await startProgram({ data: join(folder, 'data') });
  token = await setUp(program.url);
  for (let count = 0; count < 300; count++) await read();
});
afterAll(() => program.stop());

/** Adds an entry to the audit log. */
function read(): Promise<Reply> {
  return expectDone(send(program.url, 'GET /api/Tip', { token }));
}

/** Runs a pipeline of a command; returns what its reader prints. */
async function runInShell(pipeline: string, args: readonly string[]): Promise<string> {
  const shell = spawn('sh', ['-c', pipeline, process.execPath, await bundleProgram(), ...args], { cwd: root });
  let out = '';
  shell.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  await once(shell, 'close');
  return out;
}

/** Runs a command whose output goes to a full disk. */
async function runFull(args: readonly string[]): Promise<{ readonly code: number; readonly err: string }> {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [await bundleProgram(), ...args], { cwd: root, stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  let err = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => (err += text));
  const [code] = await once(child, 'close');
  return { code, err };
}

describe('a full disk', () => {
  it.each([
    ['status', '--json', ...place],
    ['policies', 'history', ...place],
    ['decisions', 'tail', '--once', '--json', ...place],
    ['decisions', 'tail', ...place],
    ['decisions', 'verify', '--json', ...place],
    ['decisions', 'export', '-', ...place],
    ['storage', 'plan', ...place],
    ['check', '--project', 'examples/newsroom'],
    ['openapi', '--project', 'examples/newsroom'],
    ['completion', 'bash'],
    ['init', join(folder, 'made'), '--template', 'blank', '--json'],
    ['status', '--help'],
  ])('bailiwick %s %s fails if its output cannot be written', async (...args) => {
    const { code, err } = await runFull(args);
    const last = err.trimEnd().split('\n').at(-1);
    expect([code, last]).toEqual([2, 'bailiwick: cannot write to standard output: no space left on device']);
  });
});

describe('a reader', () => {
  it.each([['tail'], ['tail', '--once'], ['export', '-']])(
    'a reader that closes the pipe ends decisions %s without an error',
    async (...args) => {
      expect(await runUnread(['decisions', ...args, ...place])).toBe(0);
    },
  );

  it('a reader that has read enough ends decisions tail with the next entry', async () => {
    const ended = runInShell('"$0" "$@" | head -1', ['decisions', 'tail', '--last', '1', ...place]);
    let hasEnded = false;
    void ended.then(() => (hasEnded = true));
    while (!hasEnded) await read();
    expect(await ended).toMatch(/^\S+ allow .*\n$/);
  });

  it('a slow reader receives every line', async () => {
    const args = ['decisions', 'tail', '--once', '--last', '300', '--json', ...place];
    const out = await runInShell('"$0" "$@" | (sleep 2; cat)', args);
    // More than a pipe holds.
    expect(out.length).toBeGreaterThan(70_000);
    expect(out.split('\n')).toHaveLength(301);
  });
});
