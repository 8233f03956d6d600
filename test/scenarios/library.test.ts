import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { examples } from './examples.ts';

const ENTRY = new URL('../../src/index.ts', import.meta.url);
const [example = ''] = examples('operating', 'js');

it('the example of the library entry runs a service', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-library-'));
  try {
    mkdirSync(join(folder, 'resources'));
    writeFileSync(join(folder, 'resources', 'Note.yaml'), 'name: Note\nfields: { text: { type: string } }\n');
    writeFileSync(join(folder, 'program.mjs'), example.replace("'bailiwick'", JSON.stringify(ENTRY.href)));
    const { stdout } = await promisify(execFile)(process.execPath, ['program.mjs'], { cwd: folder, env: { PATH: process.env['PATH'] } });
    expect(stdout).toMatch(/^the API is at http:\/\/127\.0\.0\.1:\d+\/api\n$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('the docstring of the library entry has the example of the guide', () => {
  const text = readFileSync(ENTRY, 'utf8').replaceAll(/^ \* ?/gm, '');
  expect(text).toContain(`\`\`\`js\n${example}\`\`\``);
});
