// Installs what this checkout is missing, and is done in a blink when nothing is. `npm start`, `npm test` and
// `npm run check` call it first. Plain JavaScript for Node 18: it runs on whatever Node the machine has, and puts
// the one that the project runs on (the npm package `node`) into node_modules/.bin, where npm scripts find it first.
import { spawn, spawnSync } from 'node:child_process';
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
    if (!isUpToDate()) await install();
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

async function install() {
  const packages = lockedPackages();
  // No package needs its install script: the database driver brings its binaries. The one exception is `node`,
  // which fetches the binary for this platform; so scripts are off, then on for it alone, whatever the user's own npm settings.
  if (!isInstalled(packages)) {
    const done = showProgress('installing what is missing…', () => `${countInstalled(packages)} of ${packages.length} packages`);
    await npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--engine-strict=false']);
    done();
  }
  if (!runsOwnNode()) {
    const done = showProgress('fetching Node for this checkout…', () => 'from the npm registry');
    await npm(['rebuild', 'node', '--ignore-scripts=false', '--foreground-scripts=false']);
    done();
  }
  checkOwnNode();
  linkCommand();
  writeFileSync(stamp, fingerprint());
}

/** The packages that package-lock.json names, but those for other platforms: path below the checkout → version. */
function lockedPackages() {
  const { packages = {} } = JSON.parse(readText(join(checkout, 'package-lock.json')));
  return Object.entries(packages).filter(([path, { optional }]) => path !== '' && !optional);
}

/** Says whether npm itself (`npm ci`, `npm install`) has installed all of these versions: it notes what is there in a lock file of its own. */
function isInstalled(packages) {
  const text = readText(join(modules, '.package-lock.json'));
  if (text === undefined || packages.length === 0) return false;
  const { packages: installed = {} } = JSON.parse(text);
  return packages.every(([path, { version }]) => installed[path]?.version === version && existsSync(join(checkout, path, 'package.json')));
}

function countInstalled(packages) {
  return packages.filter(([path]) => existsSync(join(checkout, path, 'package.json'))).length;
}

function runsOwnNode() {
  const own = join(modules, '.bin', 'node');
  return existsSync(own) && spawnSync(own, ['--version'], { shell: process.platform === 'win32' }).status === 0;
}

/** Says what happens, and how far it is every few seconds: on a terminal in one line that is written over, elsewhere in lines of their own. */
function showProgress(what, progress) {
  const from = Date.now();
  const isTerminal = process.stderr.isTTY === true;
  const tell = () => {
    const line = `${what} ${progress()}, ${Math.round((Date.now() - from) / 1000)} s`;
    if (isTerminal) process.stderr.write(`\r\u001b[Kbailiwick: ${line}`);
    else say(line);
  };
  if (isTerminal) tell();
  else say(what);
  const timer = setInterval(tell, isTerminal ? 500 : 3000);
  return () => {
    clearInterval(timer);
    if (isTerminal) process.stderr.write('\n');
  };
}

/** The platform's binary may be none that runs here (Alpine has another libc): then a new enough Node of the machine's own will do. */
function checkOwnNode() {
  if (runsOwnNode()) return;
  const { status, stdout } = spawnSync('node', ['--version'], {
    env: outsideEnvironment(),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  const [major = 0, minor = 0] = (status === 0 ? stdout : '').replace('v', '').split('.').map(Number);
  if (major < ENOUGH[0] || (major === ENOUGH[0] && minor < ENOUGH[1])) {
    fail(`the npm package "node" does not run on this machine; install Node ${ENOUGH.join('.')} or newer and try again`);
  }
  rmSync(join(modules, '.bin', 'node'), { force: true });
}

/** `npx bailiwick` inside the checkout. */
function linkCommand() {
  const link = join(modules, '.bin', 'bailiwick');
  rmSync(link, { force: true });
  if (process.platform !== 'win32') symlinkSync(join('..', '..', 'bin', 'bailiwick.js'), link);
}

async function npm(args) {
  // The Node that runs npm, not the one in node_modules, which `npm ci` is about to delete.
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  const direct = script?.endsWith('.js') && node !== undefined && !node.startsWith(modules + sep);
  const [command, first] = direct ? [node, [script]] : ['npm', []];
  const child = spawn(command, [...first, ...args, '--loglevel=error'], {
    cwd: checkout,
    env: outsideEnvironment(),
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: !direct && process.platform === 'win32',
  });
  const failure = await new Promise((done) => {
    child.on('error', (error) => done(`: ${error.message}`));
    child.on('close', (status) => done(status === 0 ? undefined : ''));
  });
  if (failure !== undefined) fail(`npm ${args[0]} failed${failure}; its messages are printed above`);
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
