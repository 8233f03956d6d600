// Installs what this checkout is missing, and is done in a blink when nothing is. `npm start`, `npm test` and
// `npm run check` call it first. Plain JavaScript for Node 18: it runs on whatever Node the machine has, and puts
// the one that the project runs on (the npm package `node`) into node_modules/.bin, where npm scripts find it first.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const checkout = fileURLToPath(new URL('..', import.meta.url));
const modules = join(checkout, 'node_modules');
const stamp = join(modules, '.setup-stamp');
const lock = join(checkout, '.setup-lock');

/** The first Node that runs TypeScript without a flag. */
const ENOUGH = [22, 18];

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) await setup();

async function setup() {
  if (isUpToDate()) return;
  await takeLock();
  try {
    if (!isUpToDate()) install();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function isUpToDate() {
  return readText(stamp) === fingerprint();
}

/** What an installation depends on. */
function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(checkout, 'package-lock.json')));
  return `${hash.digest('hex')} ${process.platform} ${process.arch}\n`;
}

function install() {
  say('installing what is missing…');
  // No package needs its install script: the database driver brings its binaries. The one exception is `node`,
  // which fetches the binary for this platform; so scripts are off, then on for it alone, whatever the user's own npm settings.
  npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--engine-strict=false']);
  npm(['rebuild', 'node', '--ignore-scripts=false', '--foreground-scripts=false']);
  checkOwnNode();
  linkCommand();
  writeFileSync(stamp, fingerprint());
}

/** The platform's binary may be none that runs here (Alpine has another libc): then a new enough Node of the machine's own will do. */
function checkOwnNode() {
  const own = join(modules, '.bin', 'node');
  if (spawnSync(own, ['--version'], { shell: process.platform === 'win32' }).status === 0) return;
  const { status, stdout } = spawnSync('node', ['--version'], {
    env: outsideEnvironment(),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  const [major = 0, minor = 0] = (status === 0 ? stdout : '').replace('v', '').split('.').map(Number);
  if (major < ENOUGH[0] || (major === ENOUGH[0] && minor < ENOUGH[1])) {
    fail(`the npm package "node" does not run on this machine; install Node ${ENOUGH.join('.')} or newer and try again`);
  }
  rmSync(own, { force: true });
}

/** `npx bailiwick` inside the checkout. */
function linkCommand() {
  const link = join(modules, '.bin', 'bailiwick');
  rmSync(link, { force: true });
  if (process.platform !== 'win32') symlinkSync(join('..', '..', 'bin', 'bailiwick.js'), link);
}

function npm(args) {
  // The Node that runs npm, not the one in node_modules, which `npm ci` is about to delete.
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  const direct = script?.endsWith('.js') && node !== undefined && !node.startsWith(modules + sep);
  const [command, first] = direct ? [node, [script]] : ['npm', []];
  const { status, error } = spawnSync(command, [...first, ...args, '--loglevel=error'], {
    cwd: checkout,
    env: outsideEnvironment(),
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: !direct && process.platform === 'win32',
  });
  if (status !== 0) fail(`npm ${args[0]} failed${error === undefined ? '' : `: ${error.message}`}; what it printed stands above`);
}

/** The environment without what npm put in front of PATH for the script that we are. */
function outsideEnvironment() {
  const name = Object.keys(process.env).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH';
  const folders = (process.env[name] ?? '').split(delimiter).filter((folder) => !folder.startsWith(modules + sep));
  return { ...process.env, [name]: folders.join(delimiter) };
}

/** Two at once (`npm start` beside `npm test`) must not delete each other's files. A folder is made by one of them only. */
async function takeLock() {
  let waiting = false;
  while (true) {
    try {
      mkdirSync(lock);
      return writeFileSync(join(lock, 'pid'), String(process.pid));
    } catch (error) {
      if (error.code !== 'EEXIST') fail(`cannot write ${checkout}: ${error.message}`);
    }
    if (!waiting) say('waiting for another installation…');
    waiting = true;
    dropDeadLock();
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** A lock whose holder is gone. It is renamed before it goes, so that of two who wait, only one takes it away. */
function dropDeadLock() {
  const aside = `${lock}-${process.pid}`;
  try {
    const pid = readText(join(lock, 'pid'));
    if (pid ? isAlive(Number(pid)) : Date.now() - statSync(lock).mtimeMs < 10_000) return;
    renameSync(lock, aside);
    if (readText(join(aside, 'pid')) === pid) rmSync(aside, { recursive: true });
    else renameSync(aside, lock);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function readText(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function say(line) {
  process.stderr.write(`bailiwick: ${line}\n`);
}

function fail(line) {
  rmSync(lock, { recursive: true, force: true });
  say(line);
  process.exit(1);
}
