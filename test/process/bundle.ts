/** Bundles the program for the tests, because a bundle starts in two thirds of the CPU time of the sources. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createFolderOnce } from '../folder-once.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
/** Below `node_modules/`, so that a bundle finds the packages of the checkout. */
const BUNDLES = join(root, 'node_modules/.cache/bailiwick-bundles');
const DAY_MS = 86_400_000;

/** Bundles that this process builds or has built, by the hash of their sources. */
const bundles = new Map<string, Promise<string>>();

/** In watch mode, the sources change while this process runs. */
const isWatching = process.env['VITEST_MODE'] === 'WATCH';
/** The hash of the sources. */
let known: string | undefined;

/** Returns the path of the command in a bundle of the present sources, and builds the bundle if no run of the tests has built it yet. */
export function bundleProgram(): Promise<string> {
  // Once for all programs that the tests of a process start, because a hash reads six hundred files.
  if (known === undefined || isWatching) known = hashSources();
  const bundle = bundles.get(known) ?? buildOnce(join(BUNDLES, known));
  bundles.set(known, bundle);
  return bundle;
}

function hashSources(): string {
  const hash = createHash('sha256');
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(?<!\.test|\.fixture)\.ts$/.test(path),
  );
  for (const path of ['bin/bailiwick.js', 'package.json', 'rolldown.config.ts', ...sources.sort().map((each) => join('src', each))])
    hash.update(`${path}\0`).update(readFileSync(join(root, path)));
  return hash.digest('hex').slice(0, 20);
}

async function buildOnce(folder: string): Promise<string> {
  await createFolderOnce(folder, async (made) => {
    removeOldBundles();
    for (const name of ['bin', 'package.json']) cpSync(join(root, name), join(made, name), { recursive: true });
    const bundler = join(root, 'node_modules/rolldown/bin/cli.mjs');
    await run(process.execPath, [bundler, '-c', 'rolldown.config.ts', '--dir', join(made, 'dist')], { cwd: root });
  });
  return join(folder, 'bin/bailiwick.js');
}

/** Removes the bundles of former sources. A run that still uses one would be older than a day. */
function removeOldBundles(): void {
  for (const name of readdirSync(BUNDLES)) {
    const folder = join(BUNDLES, name);
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (stats !== undefined && Date.now() - stats.mtimeMs > DAY_MS) rmSync(folder, { recursive: true, force: true });
  }
}
