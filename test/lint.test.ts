import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Runs the linter with the configuration of the project on a copy of a fixture, because the configuration excludes fixtures. */
async function lint(fixture: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-lint-'));
  try {
    cpSync(new URL(`fixtures/${fixture}`, import.meta.url), folder, { recursive: true });
    const configuration = readFileSync(new URL('../biome.json', import.meta.url), 'utf8');
    writeFileSync(join(folder, 'biome.json'), configuration.replace('"!test/fixtures"', '"!nothing"'));
    const biome = new URL('../node_modules/.bin/biome', import.meta.url).pathname;
    return await new Promise((done) => execFile(biome, ['lint', '--reporter=github', '.'], { cwd: folder }, (_, out) => done(out)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A missing `await` on an audit entry would send a response without its entry. */
describe('the linter', () => {
  it('the linter finds every floating promise: from this file, from another, of a method, of a chain', async () => {
    const found = [...(await lint('lint')).matchAll(/noFloatingPromises,file=.*?floating-promise\.ts,line=(\d+)/g)].map(([, line]) =>
      Number(line),
    );
    const source = readFileSync(new URL('fixtures/lint/floating-promise.ts', import.meta.url), 'utf8');
    const expected = source.split('\n').flatMap((line, index) => (line.endsWith('// floats') ? [index + 1] : []));
    expect(expected).toHaveLength(4);
    expect(found).toEqual(expected);
  });
});
