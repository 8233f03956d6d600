import { execFile } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

/** A bundler that logs each build, and writes the source to the folder; or fails. */
const ROLLDOWN = `
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
const folder = process.argv[process.argv.indexOf('--dir') + 1];
appendFileSync('rolldown.log', 'built\\n');
if (existsSync('rolldown.fails')) process.exit(1);
const text = readFileSync('src/main.ts', 'utf8');
writeFileSync(folder + '/main.js', text.replace('sources', 'build'));
`;

const VITE = `
import { mkdirSync } from 'node:fs';
mkdirSync(process.argv[process.argv.indexOf('--outDir') + 1] + '/assets', { recursive: true });
`;

const root = mkdtempSync(join(tmpdir(), 'bailiwick-build-checkout-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A checkout with a program of one file, which prints if it runs from the sources or from a build. */
interface Checkout {
  readonly folder: string;
  /** Builds what has changed. Returns the messages. */
  build(): Promise<string>;
  /** Runs the command and returns its output. */
  run(): Promise<string>;
  /** Writes a file of the checkout. */
  write(path: string, text: string): void;
  /** Returns the number of runs of the bundler. */
  runs(): number;
}

function createCheckout(): Checkout {
  const folder = mkdtempSync(join(root, 'checkout-'));
  for (const name of ['src', 'console', 'bin', 'node_modules/rolldown/bin', 'node_modules/vite/bin']) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  cpSync(fileURLToPath(new URL('.', import.meta.url)), join(folder, 'scripts'), { recursive: true });
  cpSync(fileURLToPath(new URL('../bin', import.meta.url)), join(folder, 'bin'), { recursive: true });
  const write = (path: string, text: string): void => writeFileSync(join(folder, path), text);
  for (const name of ['package-lock.json', 'tsconfig.json', 'rolldown.config.ts']) write(name, '{}');
  for (const name of ['package.json', 'node_modules/rolldown/package.json', 'node_modules/vite/package.json'])
    write(name, '{ "type": "module" }');
  write('node_modules/rolldown/bin/cli.mjs', ROLLDOWN);
  write('node_modules/vite/bin/vite.js', VITE);
  write('src/main.ts', `process.stdout.write('sources');`);
  const node = (path: string): Promise<{ readonly out: string; readonly err: string }> =>
    new Promise((resolve, reject) => {
      execFile(process.execPath, [join(folder, path)], { cwd: folder }, (error, out, err) =>
        error ? reject(error) : resolve({ out, err }),
      );
    });
  return {
    folder,
    write,
    build: async () => (await node('scripts/build-checkout.mjs')).err,
    run: async () => (await node('bin/bailiwick.js')).out,
    runs: () => (existsSync(join(folder, 'rolldown.log')) ? readFileSync(join(folder, 'rolldown.log'), 'utf8').split('\n').length - 1 : 0),
  };
}

describe.concurrent('the build of a checkout', () => {
  it('the command runs the built program, and the sources without a build', async () => {
    const { build, run, runs } = createCheckout();
    expect(await run()).toBe('sources');
    expect(await build()).toBe('bailiwick: building the console…\n');
    expect(await run()).toBe('build');
    expect(await build()).toBe('');
    expect(runs()).toBe(1);
  });

  it.each([
    ['a changed source', 'src/main.ts'],
    ['a new source', 'src/other.ts'],
    ['a changed version of a package', 'package-lock.json'],
    ['changed options of the bundler', 'rolldown.config.ts'],
  ])('the command runs the sources until the next build after %s', async (_, path) => {
    const { folder, build, run, write, runs } = createCheckout();
    await build();
    if (path === 'src/main.ts') appendFileSync(join(folder, path), `process.stdout.write(' of today');`);
    else write(path, '{ }');
    const added = path === 'src/main.ts' ? ' of today' : '';
    expect(await run()).toBe(`sources${added}`);
    await build();
    expect(await run()).toBe(`build${added}`);
    expect(runs()).toBe(2);
  });

  it('a test file is no source', async () => {
    const { build, run, write } = createCheckout();
    await build();
    write('src/main.test.ts', '');
    expect(await run()).toBe('build');
  });

  it('keeps the five newest builds, because a service that runs may use a former one', async () => {
    const { folder, build } = createCheckout();
    for (let version = 1; version <= 7; version++) {
      writeFileSync(join(folder, 'src/main.ts'), `process.stdout.write('sources ${version}');`);
      // Sources that are changed within one tick of the clock of the file system.
      utimesSync(join(folder, 'src/main.ts'), version, version);
      await build();
    }
    const builds = readdirSync(join(folder, 'dist/programs'));
    const texts = builds.map((name) => readFileSync(join(folder, 'dist/programs', name, 'main.js'), 'utf8'));
    expect(texts.toSorted()).toEqual([3, 4, 5, 6, 7].map((version) => `process.stdout.write('build ${version}');`));
  });

  it('a failed build is reported and leaves nothing, and the sources run', async () => {
    const { folder, build, run, write } = createCheckout();
    write('rolldown.fails', '');
    expect(await build()).toMatch(/^bailiwick: building the console…\nbailiwick: the program was not built: Command failed: .*rolldown/);
    expect(readdirSync(join(folder, 'dist/programs'))).toEqual([]);
    expect(await run()).toBe('sources');
  });

  it('a failed build of the console is reported, and the program is built', async () => {
    const { build, run, write } = createCheckout();
    write('node_modules/vite/bin/vite.js', 'process.exit(1)');
    expect(await build()).toBe('bailiwick: building the console…\nbailiwick: the console was not built: vite ended with code 1\n');
    expect(await run()).toBe('build');
  });
});
