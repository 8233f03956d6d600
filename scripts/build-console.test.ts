import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';

/** A bundler that logs each build, waits, and writes a page, a script, a short file and an image; or fails with a message that names the checkout. */
const VITE = `
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
const folder = process.argv[process.argv.indexOf('--outDir') + 1];
appendFileSync('vite.log', process.env.NODE_ENV + '\\n');
if (existsSync('vite.fails')) {
  console.error('\\u001b[31m' + process.cwd() + '/console/main.tsx: unexpected token\\u001b[39m\\n    at parse (parser.js:1:1)');
  process.exit(1);
}
mkdirSync(folder + '/assets', { recursive: true });
const text = readFileSync('console/main.tsx', 'utf8');
writeFileSync(folder + '/index.html', text);
await new Promise((done) => setTimeout(done, 1000 * Number(process.env.VITE_SECONDS)));
writeFileSync(folder + '/assets/main.js', text.repeat(200));
writeFileSync(folder + '/assets/short.js', '1');
writeFileSync(folder + '/assets/image.png', text.repeat(200));
`;

const root = mkdtempSync(join(tmpdir(), 'bailiwick-build-console-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A checkout that contains only the files that the build needs. Each test has its own, because the tests run at the same time. */
interface Checkout {
  readonly folder: string;
  /** Runs the build. The bundler takes this number of seconds, by default none. */
  build(seconds?: number): Promise<{ readonly code: number | null; readonly said: string }>;
  /** Starts a build without waiting for its end. */
  start(seconds: number): ChildProcess;
  /** Writes a file of the checkout. */
  write(path: string, text: string): void;
  /** Returns the text of a file of the build. */
  read(path: string): string;
  /** Returns the number of runs of the bundler. */
  runs(): number;
}

function createCheckout(): Checkout {
  const folder = mkdtempSync(join(root, 'checkout-'));
  for (const name of ['scripts', 'console', 'node_modules/vite/bin']) mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['build-console.mjs', 'files.mjs', 'own-node.mjs', 'setup-lock.mjs'])
    copyFileSync(new URL(name, import.meta.url), join(folder, 'scripts', name));
  const write = (path: string, text: string): void => writeFileSync(join(folder, path), text);
  write('package-lock.json', '{}');
  write('tsconfig.json', '{}');
  write('package.json', '{ "type": "module" }');
  write('console/main.tsx', 'first');
  write('node_modules/vite/bin/vite.js', VITE);
  write('node_modules/vite/package.json', '{ "type": "module" }');
  const start = (seconds: number): ChildProcess =>
    spawn(process.execPath, [join(folder, 'scripts/build-console.mjs')], {
      env: { PATH: process.env['PATH'], NODE_ENV: 'test', VITE_SECONDS: String(seconds) },
    });
  return {
    folder,
    write,
    start,
    read: (path) => readFileSync(join(folder, 'dist/console', path), 'utf8'),
    runs: () => (existsSync(join(folder, 'vite.log')) ? readFileSync(join(folder, 'vite.log'), 'utf8').trim().split('\n').length : 0),
    async build(seconds = 0) {
      const child = start(seconds);
      let said = '';
      child.stderr?.on('data', (text) => {
        said += text;
      });
      return new Promise((done) => child.on('close', (code) => done({ code, said })));
    },
  };
}

const BUILT = { code: 0, said: 'bailiwick: building the console…\n' };

describe.concurrent('the build of the console', () => {
  it('builds for production, and compresses the texts that become smaller', async () => {
    const { folder, build, read } = createCheckout();
    expect(await build()).toEqual(BUILT);
    expect(readFileSync(join(folder, 'vite.log'), 'utf8')).toBe('production\n');
    const assets = join(folder, 'dist/console/assets');
    expect(readdirSync(assets).sort()).toEqual(['image.png', 'main.js', 'main.js.br', 'main.js.gz', 'short.js']);
    expect(brotliDecompressSync(readFileSync(join(assets, 'main.js.br'))).toString()).toBe(read('assets/main.js'));
    expect(gunzipSync(readFileSync(join(assets, 'main.js.gz'))).toString()).toBe(read('assets/main.js'));
    expect(readdirSync(join(folder, 'dist'))).toEqual(['console']);
    expect(existsSync(join(folder, '.setup-lock'))).toBe(false);
  });

  it.each([
    ['a changed source', 'console/main.tsx'],
    ['a new source', 'console/screens.tsx'],
    ['a changed lock file', 'package-lock.json'],
    ['changed options of the compiler', 'tsconfig.json'],
  ])('builds again after %s, and not without a change', async (_, path) => {
    const { folder, build, write, runs } = createCheckout();
    await build();
    write('README.md', 'changed');
    expect(await build()).toEqual({ code: 0, said: '' });
    write(path, 'second');
    expect(await build()).toEqual(BUILT);
    expect(runs()).toBe(2);
    expect(readdirSync(join(folder, 'dist'))).toEqual(['console']);
  });

  it('builds once if two processes start at once', async () => {
    const { build, runs } = createCheckout();
    const both = await Promise.all([build(0.5), build(0.5)]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(runs()).toBe(1);
  });

  // `expect.poll` needs the `expect` of the test, because the tests run at the same time.
  it('keeps the former build if a build is killed, and the next one removes what the killed one has written', async ({ expect }) => {
    const { folder, build, start, write, read, runs } = createCheckout();
    await build();
    write('console/main.tsx', 'second');
    const killed = start(20);
    await expect.poll(() => readdirSync(join(folder, 'dist')).length, { timeout: 30_000 }).toBe(2);
    killed.kill('SIGKILL');
    await new Promise((done) => killed.on('close', done));
    expect(read('index.html')).toBe('first');
    expect((await build()).code).toBe(0);
    expect([read('index.html'), runs()]).toEqual(['second', 3]);
    expect(readdirSync(join(folder, 'dist'))).toEqual(['console']);
  });

  it('fails with the messages of the bundler, and leaves them for the page in place of the former build', async () => {
    const { folder, build, write, read } = createCheckout();
    await build();
    write('console/main.tsx', 'second');
    write('vite.fails', '');
    const expected = 'vite ended with code 1\nconsole/main.tsx: unexpected token';
    const said = `bailiwick: building the console…\nbailiwick: the console was not built: ${expected}\n`;
    expect(await build()).toEqual({ code: 1, said });
    expect(readdirSync(join(folder, 'dist/console'))).toEqual(['failure.txt']);
    expect(read('failure.txt')).toBe(expected);
    rmSync(join(folder, 'vite.fails'));
    expect(await build()).toEqual(BUILT);
    expect(readdirSync(join(folder, 'dist/console')).sort()).toEqual(['.built-from', 'assets', 'index.html']);
  });

  it('fails if it cannot write', async () => {
    const { build, write, folder } = createCheckout();
    write('dist', 'a file in the place of the folder');
    const said = expect.stringMatching(/^bailiwick: the console was not built: EEXIST/);
    expect(await build()).toEqual({ code: 1, said });
    expect(existsSync(join(folder, '.setup-lock'))).toBe(false);
  });
});
