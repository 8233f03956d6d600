import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openInput } from './command-files.ts';
import { runCli } from './program.ts';
import { createRun } from './run.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-interrupted-'));
afterAll(() => rmSync(folder, { recursive: true }));

const COMMANDS: readonly (readonly [string, readonly string[]])[] = [
  ['import', ['import', 'Article', '-', '--format', 'csv', '--as', 'ada@example.com']],
  ['policies import', ['policies', 'import', '-', '--format', 'json', '--as', 'ada@example.com']],
];
const never = (): Promise<never> => new Promise(() => undefined);

it.each(COMMANDS)('a signal ends %s while it waits for the lock of the database', async (_name, args) => {
  const run = createRun({ importFile: never, importPolicies: never });
  const exit = runCli(args, run.context);
  await expect.poll(() => run.made.length).toBe(1);
  run.signals.emit('SIGTERM');
  expect([await exit, run.err]).toEqual([1, ['bailiwick: the command was interrupted']]);
});

it.each(COMMANDS)('a second signal ends %s after it has begun to read', async (_name, args) => {
  let isReading = false;
  const read = async ({ bytes }: { readonly bytes: AsyncIterable<Uint8Array> }): Promise<never> => {
    for await (const _ of bytes) isReading = true;
    return never();
  };
  const run = createRun({ importFile: read, importPolicies: read });
  let code: number | undefined;
  const context = {
    ...run.context,
    openInput: async () =>
      (async function* () {
        yield Buffer.from('a');
      })(),
  };
  void runCli(args, context).then((ended) => {
    code = ended;
  });
  await expect.poll(() => isReading).toBe(true);
  const signalled = (): number | undefined => {
    run.signals.emit('SIGINT');
    return code;
  };
  await expect.poll(signalled, { timeout: 10_000 }).toBe(1);
});

it('an abort ends the read of a named pipe that no program writes to', async () => {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const stop = new AbortController();
  const bytes = await openInput(path, stop.signal);
  stop.abort(new Error('interrupted'));
  const read = async (): Promise<void> => {
    for await (const _ of bytes) throw new Error('expected no content');
  };
  await expect(read()).rejects.toThrow('interrupted');
});

it('a named pipe is read from its first writer to the end', async () => {
  const path = join(folder, 'written-pipe');
  execFileSync('mkfifo', [path]);
  const bytes = await openInput(path);
  execFileSync('sh', ['-c', `printf 'a,b' > ${path}`]);
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe('a,b');
});
