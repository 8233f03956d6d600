import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Program, runProgram, send, setUp, startProgram } from '../process/program.ts';
import { examples } from './examples.ts';

const FILE = '/backup/newsroom.db';
const [commands = ''] = examples('backup', 'sh');
const [backUp = [], inspect = [], restore = []] = commands.split('\n').map((line) =>
  line
    .replace(/\s+#.*/, '')
    .split(' ')
    .slice(2),
);
const [inspectOutput = ''] = examples('backup', '').filter((block) => block.startsWith('$ '));

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-backup-guide-'));
const data = join(folder, 'data');
const run = (command: readonly string[]) => {
  const words = command.map((word) => (word === FILE ? join(folder, 'newsroom.db') : word));
  return runProgram([...words, '--project', 'examples/newsroom', '--data', data]);
};
/** Replaces sizes, times and counts, which differ from run to run. */
const withoutFigures = (text: string): string =>
  text
    .replaceAll(/\d{4}-\S+Z/g, '<time>')
    .replaceAll(/[\d.]+ [kM]B/g, '<size>')
    .replaceAll(/^\d+ audit entries/gm, '<count> audit entries');

let program: Program;
beforeAll(async () => {
  program = await startProgram({ data, args: ['--log-level', 'error'] });
});
afterAll(async () => {
  await program.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('the guide to backups', () => {
  it('the guide to backups shows commands that back up and restore a running service, with their output', async () => {
    const token = await setUp(program.url);
    expect((await run(backUp)).code).toBe(0);
    expect((await send(program.url, 'GET /api/Article', { token })).status).toBe(200);
    const { code, out } = await run(inspect);
    expect([code, withoutFigures(`$ npx bailiwick ${inspect.join(' ')}\n${out}`)]).toEqual([0, withoutFigures(inspectOutput)]);
    expect((await run(restore)).code).toBe(0);
    expect((await send(program.url, 'GET /api/Article', { token })).status).toBe(401);
  });
});
