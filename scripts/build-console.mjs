// Builds the console into dist/console/ if its sources or the versions of its packages have changed. Plain JavaScript for Node.js 18, because
// the shell may run it with the Node.js of the machine; Vite runs on the Node.js of the checkout.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { listFiles } from './files.mjs';
import { ownNode } from './own-node.mjs';
import { checkout, readText, releaseLock, say, showProgress, takeLock } from './setup-lock.mjs';

const modules = join(checkout, 'node_modules');
const dist = join(checkout, 'dist');
const built = join(dist, 'console');

/** The name of folders that are not complete. The next build removes those of builds that were killed. */
const PARTIAL = '.console-';

/** Maximum characters of the messages that the page shows. */
const FAILURE_LENGTH = 4000;

/** Files that are also stored compressed. Images and fonts are compressed already. */
const COMPRESSIBLE = new Set(['.css', '.js', '.svg']);

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  process.exitCode = await buildConsole().then(
    () => 0,
    (error) => {
      say(error.message);
      return 1;
    },
  );
}

/** Builds the console if its sources have changed. After a failure, the service serves a page with the messages. */
export async function buildConsole() {
  try {
    await buildIfChanged();
  } catch (error) {
    throw new Error(`the console was not built: ${error.message}`);
  }
}

async function buildIfChanged() {
  if (isUpToDate()) return;
  await takeLock('another command that builds the console or installs packages');
  try {
    if (!isUpToDate()) await build();
  } finally {
    releaseLock();
  }
}

function isUpToDate() {
  return readText(join(built, '.built-from')) === fingerprint();
}

/** Identifies the inputs of a build: the sources, the options of the compiler that they extend, the packages, and this script. */
function fingerprint() {
  const hash = createHash('sha256');
  const paths = ['package-lock.json', 'tsconfig.json', 'scripts/build-console.mjs', ...listFiles(checkout, 'console')];
  for (const path of paths)
    hash
      .update(`${path.split(sep).join('/')}\0`)
      .update(readFileSync(join(checkout, path)))
      .update('\0');
  return hash.digest('hex');
}

/** Builds into a new folder, and renames it when it is complete. */
async function build() {
  mkdirSync(dist, { recursive: true });
  for (const name of readdirSync(dist)) if (name.startsWith(PARTIAL)) rmSync(join(dist, name), { recursive: true });
  const folder = join(dist, `${PARTIAL}${process.pid}`);
  const from = fingerprint();
  const done = showProgress('building the console…');
  const failure = await runVite(folder).finally(done);
  if (failure === undefined) {
    for (const path of listFiles(folder, 'assets')) compress(join(folder, path));
    writeFileSync(join(folder, '.built-from'), from);
  } else {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    writeFileSync(join(folder, 'failure.txt'), failure);
  }
  replaceBuilt(folder);
  if (failure !== undefined) throw new Error(failure);
}

/** Runs Vite. Returns its messages if it fails, without the path of the checkout, because the page shows them. */
async function runVite(folder) {
  const options = ['--outDir', folder, '--emptyOutDir', '--logLevel', 'warn'];
  const child = spawn(ownNode(), [join(modules, 'vite', 'bin', 'vite.js'), 'build', 'console', ...options], {
    cwd: checkout,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let messages = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      messages += text;
    });
  }
  const ended = await new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(code === 0 ? undefined : `vite ended with ${signal ?? `code ${code}`}`));
  });
  if (ended === undefined) return undefined;
  // A stack begins with the first line that begins with "at". It names only files of the bundler.
  const [described = ''] = stripVTControlCharacters(messages).split(/\n +at /, 1);
  return `${ended}\n${described}`.replaceAll(checkout, '').trim().slice(0, FAILURE_LENGTH);
}

/** Writes the compressed forms of a file that are smaller than the file. */
function compress(path) {
  if (!COMPRESSIBLE.has(extname(path))) return;
  const content = readFileSync(path);
  for (const [suffix, compressed] of [
    ['.br', brotliCompressSync(content)],
    ['.gz', gzipSync(content, { level: 9 })],
  ])
    if (compressed.length < content.length) writeFileSync(`${path}${suffix}`, compressed);
}

function replaceBuilt(folder) {
  const former = `${folder}-former`;
  if (existsSync(built)) renameSync(built, former);
  renameSync(folder, built);
  rmSync(former, { recursive: true, force: true });
}
