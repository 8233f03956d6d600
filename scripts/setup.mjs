// Installs the packages that this checkout is missing. Every npm script of the project runs it first; it returns at once if
// nothing is missing. Plain JavaScript for Node.js 18, because it runs on the Node.js of the machine. It installs the Node.js
// of the project (the npm package `node`) into node_modules/.bin, which npm scripts search first.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkout, readText, releaseLock, say, showProgress, takeLock } from './setup-lock.mjs';

const modules = join(checkout, 'node_modules');
const stamp = join(modules, '.setup-stamp');

/** The first version of Node.js that runs TypeScript without a flag. */
const ENOUGH = [22, 18];

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) await setup();

async function setup() {
  if (isUpToDate()) return;
  await takeLock('another installation').catch((error) => fail(error.message));
  try {
    if (!isUpToDate()) await install();
  } finally {
    releaseLock();
  }
}

function isUpToDate() {
  return readText(stamp) === fingerprint() && hasWorkspacePackages();
}

/** Returns true if the packages in the workspaces are there. They are outside `node_modules`, so the stamp says nothing about them. */
function hasWorkspacePackages() {
  return lockedPackages().every(([path]) => path.startsWith('node_modules/') || existsSync(join(checkout, path)));
}

/** Identifies an installation: the lock file and the platform. */
function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(checkout, 'package-lock.json')));
  return `${hash.digest('hex')} ${process.platform} ${process.arch}\n`;
}

async function install() {
  const packages = lockedPackages();
  // Install scripts are off, except for the package `node`, whose script fetches the binary for this platform. No other
  // package needs one: the database driver contains its binaries. The flags override the npm settings of the user.
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

/** Returns the packages of package-lock.json, without those for other platforms: path below the checkout → version. */
function lockedPackages() {
  const { packages = {} } = JSON.parse(readText(join(checkout, 'package-lock.json')));
  return Object.entries(packages).filter(([path, { optional }]) => path !== '' && !optional);
}

/** Returns true if npm itself (`npm ci`, `npm install`) has installed all of these versions. npm lists them in a lock file in node_modules. */
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

/** Falls back to the Node.js of the machine if the installed binary does not run, as on Alpine with its other libc. */
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

/** Makes `npx bailiwick` work inside the checkout. */
function linkCommand() {
  const link = join(modules, '.bin', 'bailiwick');
  rmSync(link, { force: true });
  if (process.platform !== 'win32') symlinkSync(join('..', '..', 'bin', 'bailiwick.js'), link);
}

async function npm(args) {
  // Use the Node.js that runs npm, not the one in node_modules: `npm ci` deletes it.
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

/** Returns the environment without the folders of node_modules that npm adds to PATH. */
function outsideEnvironment() {
  const name = Object.keys(process.env).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH';
  const folders = (process.env[name] ?? '').split(delimiter).filter((folder) => !folder.startsWith(modules + sep));
  return { ...process.env, [name]: folders.join(delimiter) };
}

function fail(line) {
  releaseLock();
  say(line);
  process.exit(1);
}
