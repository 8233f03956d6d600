import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** An npm that notes how it is called, takes its time, and "installs" a Node. */
const NPM = `#!/bin/sh
echo "$@" >> npm.log
test -e npm.fails && { echo "npm has failed" >&2; exit 1; }
sleep 0.2
if test "$1" = ci; then
  test -e installing && { echo "two at once" >&2; exit 1; }
  touch installing; rm -rf node_modules; sleep 0.2; mkdir -p node_modules/.bin; rm installing
else
  ln -s "$REAL_NODE" node_modules/.bin/node
fi
`;

/** A checkout with nothing in it but what setup needs. */
let checkout = '';

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'bailiwick-setup-'));
  for (const folder of ['scripts', 'bin']) mkdirSync(join(checkout, folder));
  copyFileSync(new URL('setup.mjs', import.meta.url), join(checkout, 'scripts/setup.mjs'));
  writeFileSync(join(checkout, 'package-lock.json'), '{}');
  writeFileSync(join(checkout, 'bin/npm'), NPM, { mode: 0o755 });
});

afterEach(() => rmSync(checkout, { recursive: true, force: true }));

async function setup(): Promise<{ readonly status: number | null; readonly said: string }> {
  const env = { PATH: [join(checkout, 'bin'), process.env['PATH']].join(delimiter), REAL_NODE: process.execPath };
  const child = spawn(process.execPath, [join(checkout, 'scripts/setup.mjs')], { env });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  return new Promise((done) => child.on('close', (status) => done({ status, said })));
}

function callsOfNpm(): readonly string[] {
  return existsSync(join(checkout, 'npm.log')) ? readFileSync(join(checkout, 'npm.log'), 'utf8').trim().split('\n') : [];
}

describe('setup', () => {
  it('installs without scripts, then lets the script of the package node run, and no other', async () => {
    expect(await setup()).toEqual({ status: 0, said: 'bailiwick: installing what is missing…\n' });
    expect(callsOfNpm()).toEqual([
      expect.stringMatching(/^ci --ignore-scripts /),
      expect.stringMatching(/^rebuild node --ignore-scripts=false /),
    ]);
    expect(existsSync(join(checkout, '.setup-lock'))).toBe(false);
  });

  it('does nothing where nothing is missing, and installs again when the lock file changes', async () => {
    await setup();
    expect(await setup()).toEqual({ status: 0, said: '' });
    expect(callsOfNpm()).toHaveLength(2);
    writeFileSync(join(checkout, 'package-lock.json'), '{ }');
    await setup();
    expect(callsOfNpm()).toHaveLength(4);
  });

  it('installs once where two start at once', async () => {
    const both = await Promise.all([setup(), setup()]);
    expect(both.map(({ status }) => status)).toEqual([0, 0]);
    expect(callsOfNpm()).toHaveLength(2);
  });

  it('fails where npm does, shows why, and tries again the next time', async () => {
    writeFileSync(join(checkout, 'npm.fails'), '');
    const { status, said } = await setup();
    expect({ status, said }).toEqual({ status: 1, said: expect.stringContaining('npm has failed') });
    expect(said).toContain('npm ci failed');
    rmSync(join(checkout, 'npm.fails'));
    expect((await setup()).status).toBe(0);
  });

  it('takes over from one that was killed', async () => {
    const killed = spawn(process.execPath, ['-e', '']);
    await new Promise((done) => killed.on('close', done));
    mkdirSync(join(checkout, '.setup-lock'));
    writeFileSync(join(checkout, '.setup-lock/pid'), String(killed.pid));
    expect((await setup()).status).toBe(0);
    expect(callsOfNpm()).toHaveLength(2);
  });
});
