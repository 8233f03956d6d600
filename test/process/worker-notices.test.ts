/** The notices of workers: the migration of a restart, and a changed token key. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, expect, it } from 'vitest';
import { type Program, startProgram } from './program.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-worker-notices-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const project = join(folder, 'project');
mkdirSync(join(project, 'resources'), { recursive: true });

function define(resource: string, fields: string): void {
  writeFileSync(join(project, 'resources', `${resource}.yaml`), `name: ${resource}\nfields: { ${fields} }\n`);
}
define('Note', 'title: { type: string }');

function start(data: string, secret: string): Promise<Program> {
  return startProgram({ data: join(folder, data), project, args: ['--workers', '2'], env: { BAILIWICK_JWT_SECRET: secret.repeat(32) } });
}

/** Returns the lines of the output that contain a text. */
function linesWith(program: Program, text: string): readonly string[] {
  return program
    .printed()
    .split('\n')
    .filter((line) => line.includes(text));
}

it('a restart by SIGUSR2 prints each notice of its migration once', async () => {
  const program = await start('restarted', 'a');
  try {
    const database = new Sqlite(join(folder, 'restarted', 'bailiwick.db'));
    database.exec(`INSERT INTO "Note" ("id", "version", "createdAt", "updatedAt", "title") VALUES ('n1', 1, '', '', 'hello')`);
    database.close();
    define('Note', 'title: { type: integer }');
    define('Extra', 'size: { type: integer }');
    program.child.kill('SIGUSR2');
    await program.prints('all workers have been replaced');
    expect(linesWith(program, 'created tables').at(-1)).toBe('created tables: Extra');
    for (const text of ['Note was not migrated', 'storage apply --allow ']) expect(linesWith(program, text)).toHaveLength(1);
    program.child.kill('SIGUSR2');
    await expect.poll(() => linesWith(program, 'all workers have been replaced').length, { timeout: 60_000 }).toBe(2);
    expect(linesWith(program, 'Note was not migrated')).toHaveLength(2);
    expect(await program.stop()).toBe(0);
  } finally {
    await program.stop('SIGKILL');
  }
}, 120_000);

it('a start with workers prints that the token key has changed, once', async () => {
  const starts: number[] = [];
  for (const secret of ['a', 'b', 'b']) {
    const program = await start('changed-key', secret);
    try {
      // This line is printed after the notices.
      await program.prints('no admin exists yet');
      starts.push(linesWith(program, 'the token key is another one').length);
      expect(await program.stop()).toBe(0);
    } finally {
      await program.stop('SIGKILL');
    }
  }
  expect(starts).toEqual([0, 1, 0]);
}, 120_000);
