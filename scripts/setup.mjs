// Installs the packages that this checkout is missing. Every npm script of the project runs it first; it returns at once if
// nothing is missing. With `--without-tests`, as before `npm start`, it leaves out the packages of the workspaces, which only tests and
// checks need. Plain JavaScript for Node.js 18, because it runs on the Node.js of the machine. It installs the Node.js
// of the project (the npm package `node`) into node_modules/.bin, which npm scripts search first.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkout, readText, releaseLock, say, showProgress, takeLock } from './setup-lock.mjs';

const modules = join(checkout, 'node_modules');
const stamp = join(modules, '.setup-stamp');

/** The packages to install: `run` for those that run the service and build its console, or `all`. An installation of all stays one. */
const scope = process.argv.includes('--without-tests') && (readText(stamp) ?? ' run\n').endsWith(' run\n') ? 'run' : 'all';

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

/** Identifies an installation: the lock file, the platform, and the packages. */
function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(checkout, 'package-lock.json')));
  return `${hash.digest('hex')} ${process.platform} ${process.arch} ${scope}\n`;
}

async function install() {
  const packages = lockedPackages();
  // Install scripts are off, except for the package `node`, whose script fetches the binary for this platform. No other
  // package needs one: the database driver contains its binaries. The flags override the npm settings of the user.
  if (!isInstalled(packages)) {
    const done = showProgress('installing what is missing…', () => `${countInstalled(packages)} of ${packages.length} packages`);
    await npm([...installation(), '--ignore-scripts', '--no-audit', '--no-fund', '--engine-strict=false']);
    done();
  }
  if (!runsOwnNode()) {
    const done = showProgress('fetching Node for this checkout…', () => 'from the npm registry');
    await npm(['rebuild', 'node', '--ignore-scripts=false', '--foreground-scripts=false']);
    done();
    removeHeaders();
  }
  checkOwnNode();
  linkCommand();
  writeFileSync(stamp, fingerprint());
}

/**
 * Returns the command of npm. If the packages without those of tests are there, npm adds the others. `npm ci` would first remove all packages,
 * of which a service that runs loads some later.
 */
function installation() {
  if (scope === 'run') return ['ci', '--workspaces=false'];
  return isInstalled(lockedPackages('run')) ? ['install', '--no-save'] : ['ci'];
}

/** Returns the packages of package-lock.json, without those for other platforms: path below the checkout → version. */
function lockedPackages(wanted = scope) {
  const { packages = {} } = JSON.parse(readText(join(checkout, 'package-lock.json')));
  const paths = wanted === 'all' ? Object.keys(packages) : neededPaths(packages);
  return paths.filter((path) => path !== '' && !packages[path].optional).map((path) => [path, packages[path]]);
}

/** Returns the paths of the packages that the root of package-lock.json needs, directly or through others. */
function neededPaths(packages) {
  const needed = new Set(['']);
  for (const path of needed) {
    const { dependencies, devDependencies, peerDependencies = {}, peerDependenciesMeta = {} } = packages[path] ?? {};
    const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
    for (const name of [...Object.keys({ ...dependencies, ...devDependencies }), ...peers]) {
      const found = resolvePackage(packages, path, name);
      if (found !== undefined) needed.add(found);
    }
  }
  return [...needed];
}

/** Returns the path of the package that another one requires by name: the nearest in the folders `node_modules` above it. */
function resolvePackage(packages, from, name) {
  const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
  if (packages[path] !== undefined || from === '') return packages[path] && path;
  return resolvePackage(packages, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name);
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

/** Removes the headers and manuals of Node.js, a third of its size: no package of this checkout is compiled on installation. */
function removeHeaders() {
  const folder = join(modules, 'node', 'node_modules');
  const platforms = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('node-')) : [];
  for (const name of platforms) for (const each of ['include', 'share']) rmSync(join(folder, name, each), { recursive: true, force: true });
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
