import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import * as files from './command-files.ts';
import { runCli } from './program.ts';
import { createRun, type Run } from './run.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-types-'));
afterAll(() => rmSync(folder, { recursive: true }));

const GENERATED = '/** Types. */\nexport interface Resources {}\n';

/** Runs the command with real files. */
async function run(...args: readonly string[]): Promise<Run & { readonly code: number }> {
  const fake = createRun();
  const code = await runCli(['types', ...args], { ...fake.context, readOutput: files.readOutput, writeOutput: files.writeOutput });
  return { ...fake, code };
}

it('types writes a file, and leaves one that is up to date as it is', async () => {
  const file = join(folder, 'written.ts');
  expect(await run('-o', file)).toMatchObject({ code: 0, out: [`wrote ${file}`] });
  expect(readFileSync(file, 'utf8')).toBe(GENERATED);
  const { mtimeMs, ino } = statSync(file);
  expect(await run('--out', file)).toMatchObject({ code: 0, out: [`${file} is up to date`] });
  expect(statSync(file)).toMatchObject({ mtimeMs, ino });
});

it('types replaces a file that it wrote, and any other only with --force', async () => {
  const file = join(folder, 'replaced.ts');
  writeFileSync(file, '/** Types. */\nexport interface Resources { Old: object }\n');
  expect((await run('-o', file)).code).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe(GENERATED);
  writeFileSync(file, 'export const precious = true;\n');
  expect(await run('-o', file)).toMatchObject({ code: 2, err: [expect.stringContaining('--force')] });
  expect(readFileSync(file, 'utf8')).toContain('precious');
  expect((await run('-o', file, '--force')).code).toBe(0);
});

it('types --check fails for a file that is missing or not up to date, and writes nothing', async () => {
  const file = join(folder, 'checked.ts');
  expect(await run('-o', file, '--check')).toMatchObject({ code: 1, err: [expect.stringContaining('does not exist')] });
  writeFileSync(file, 'old\n');
  expect(await run('-o', file, '--check')).toMatchObject({ code: 1, err: [expect.stringContaining('not up to date')] });
  expect(readFileSync(file, 'utf8')).toBe('old\n');
  writeFileSync(file, GENERATED);
  expect((await run('-o', file, '--check')).code).toBe(0);
});

it('types --check needs the file to compare', async () => {
  expect(await run('--check')).toMatchObject({ code: 2, err: [expect.stringContaining('--out')] });
});

it('types refuses a named pipe without waiting for its writer', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const more of [[], ['--force'], ['--check']])
    expect(await run('-o', pipe, ...more)).toMatchObject({ code: 2, err: [expect.stringContaining('not a regular file')] });
});

it('types refuses a folder', async () => {
  expect((await run('-o', folder)).code).toBe(2);
});
