import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Program, runProgram, send, setUp, startProgram } from '../process/program.ts';
import { examples } from './examples.ts';

const FILE = '/backup/newsroom.db';
const [commands = ''] = examples('backup', 'sh');
const [backUp = [], look = [], restore = []] = commands.split('\n').map((line) =>
  line
    .replace(/\s+#.*/, '')
    .split(' ')
    .slice(2),
);
const [looked = ''] = examples('backup', '').filter((block) => block.startsWith('$ '));

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
}, 60_000);
afterAll(async () => {
  await program.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('the guide to backups', () => {
  it('has commands that back up and restore while the service runs, with the output that it shows', async () => {
    const token = await setUp(program.url);
    expect((await run(backUp)).code).toBe(0);
    expect((await send(program.url, 'GET /api/Article', { token })).status).toBe(200);
    const { code, out } = await run(look);
    expect([code, withoutFigures(`$ npx bailiwick ${look.join(' ')}\n${out}`)]).toEqual([0, withoutFigures(looked)]);
    expect((await run(restore)).code).toBe(0);
    expect((await send(program.url, 'GET /api/Article', { token })).status).toBe(401);
  }, 60_000);
});
