import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** An npm that logs its arguments, waits, and "installs" Node.js. */
const NPM = `#!/bin/sh
echo "$@" >> npm.log
test -e npm.fails && { echo "npm has failed" >&2; exit 1; }
sleep "$NPM_SECONDS"
if test "$1" = ci; then
  test -e installing && { echo "two at once" >&2; exit 1; }
  touch installing; rm -rf node_modules; sleep 0.2; mkdir -p node_modules/.bin; rm installing
else
  ln -s "$REAL_NODE" node_modules/.bin/node
fi
`;

/** A checkout that contains only the files that setup needs. */
let checkout = '';

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'bailiwick-setup-'));
  for (const folder of ['scripts', 'bin']) mkdirSync(join(checkout, folder));
  copyFileSync(new URL('setup.mjs', import.meta.url), join(checkout, 'scripts/setup.mjs'));
  writeFileSync(join(checkout, 'package-lock.json'), '{}');
  writeFileSync(join(checkout, 'bin/npm'), NPM, { mode: 0o755 });
});

afterEach(() => rmSync(checkout, { recursive: true, force: true }));

async function setup(more: Readonly<Record<string, string>> = {}): Promise<{ readonly status: number | null; readonly said: string }> {
  const env = {
    PATH: [join(checkout, 'bin'), process.env['PATH']].join(delimiter),
    REAL_NODE: process.execPath,
    NPM_SECONDS: '0.2',
    ...more,
  };
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
    expect(await setup()).toEqual({
      status: 0,
      said: 'bailiwick: installing what is missing…\nbailiwick: fetching Node for this checkout…\n',
    });
    expect(callsOfNpm()).toEqual([
      expect.stringMatching(/^ci --ignore-scripts /),
      expect.stringMatching(/^rebuild node --ignore-scripts=false /),
    ]);
    expect(existsSync(join(checkout, '.setup-lock'))).toBe(false);
  });

  it('does nothing if nothing is missing, and installs again when the lock file changes', async () => {
    await setup();
    expect(await setup()).toEqual({ status: 0, said: '' });
    expect(callsOfNpm()).toHaveLength(2);
    writeFileSync(join(checkout, 'package-lock.json'), '{ }');
    await setup();
    expect(callsOfNpm()).toHaveLength(4);
  });

  /** Writes a lock file with one package, and installs it as npm does, in the given version. */
  function installByNpm(version: string, names: readonly string[] = ['a']): void {
    const packages = (of: string): object => ({
      packages: Object.fromEntries(names.map((name) => [`node_modules/${name}`, { version: of }])),
    });
    const optional = { 'node_modules/other-platform': { version: '1.0.0', optional: true } };
    const locked = { packages: { '': {}, 'node_modules/a': { version: '1.0.0' }, ...optional } };
    writeFileSync(join(checkout, 'package-lock.json'), JSON.stringify(locked));
    mkdirSync(join(checkout, 'node_modules/.bin'), { recursive: true });
    for (const name of names) mkdirSync(join(checkout, 'node_modules', name));
    for (const name of names) writeFileSync(join(checkout, 'node_modules', name, 'package.json'), '{}');
    writeFileSync(join(checkout, 'node_modules/.package-lock.json'), JSON.stringify(packages(version)));
  }

  it('does not install again packages that npm itself has installed', async () => {
    installByNpm('1.0.0');
    symlinkSync(process.execPath, join(checkout, 'node_modules/.bin/node'));
    expect(await setup()).toEqual({ status: 0, said: '' });
    expect(await setup()).toEqual({ status: 0, said: '' });
    expect(callsOfNpm()).toEqual([]);
  });

  it('fetches only Node.js if npm has installed the rest without scripts', async () => {
    installByNpm('1.0.0');
    expect((await setup()).status).toBe(0);
    expect(callsOfNpm()).toEqual([expect.stringMatching(/^rebuild node /)]);
  });

  it.each([
    ['another version', '0.9.0', ['a']],
    ['not all of them', '1.0.0', []],
  ])('installs if npm has installed $0', async (_, version, names) => {
    installByNpm(version, names);
    expect((await setup()).status).toBe(0);
    expect(callsOfNpm()[0]).toMatch(/^ci /);
  });

  it('installs again if the packages of a workspace are missing, which node_modules of another checkout does not contain', async () => {
    const packages = 'examples/client/node_modules/a';
    writeFileSync(join(checkout, 'package-lock.json'), JSON.stringify({ packages: { [packages]: { version: '1.0.0' } } }));
    mkdirSync(join(checkout, packages), { recursive: true });
    await setup();
    expect(await setup()).toEqual({ status: 0, said: '' });
    rmSync(join(checkout, packages), { recursive: true });
    await setup();
    expect(callsOfNpm().map((call) => call.split(' ')[0])).toEqual(['ci', 'rebuild', 'ci', 'rebuild']);
  });

  it('reports its progress while npm runs', async () => {
    writeFileSync(join(checkout, 'package-lock.json'), JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } }));
    const { said } = await setup({ NPM_SECONDS: '3.5' });
    expect(said).toMatch(/installing what is missing… 0 of 1 packages, \d+ s\n/);
    expect(said).toMatch(/fetching Node for this checkout… from the npm registry, \d+ s\n/);
  });

  it('installs once if two processes start at once', async () => {
    const both = await Promise.all([setup(), setup()]);
    expect(both.map(({ status }) => status)).toEqual([0, 0]);
    expect(callsOfNpm()).toHaveLength(2);
  });

  it('fails if npm does, shows the reason, and tries again the next time', async () => {
    writeFileSync(join(checkout, 'npm.fails'), '');
    const { status, said } = await setup();
    expect({ status, said }).toEqual({ status: 1, said: expect.stringContaining('npm has failed') });
    expect(said).toContain('npm ci failed');
    rmSync(join(checkout, 'npm.fails'));
    expect((await setup()).status).toBe(0);
  });

  it('takes over from a process that was killed', async () => {
    const killed = spawn(process.execPath, ['-e', '']);
    await new Promise((done) => killed.on('close', done));
    mkdirSync(join(checkout, '.setup-lock'));
    writeFileSync(join(checkout, '.setup-lock/pid'), String(killed.pid));
    expect((await setup()).status).toBe(0);
    expect(callsOfNpm()).toHaveLength(2);
  });
});
