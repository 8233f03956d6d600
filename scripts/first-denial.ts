/**
 * Times the way of a new user, from an empty folder with nothing but npm to the explanation of the first denied request in the console: packs the
 * package, creates a project, installs, starts `dev`, creates the admin in a browser, and loads the example data.
 *
 *   npm run newcomer                packs this checkout
 *   npm run newcomer -- PACKAGE.tgz uses a packed package
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve, sep } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { createAdminInConsole, readExplanation, startVisitor } from './console-visitor.ts';

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('..', import.meta.url));
const ADMIN = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };

/** The seconds within which the explanation must be there. Packing is not a part of the way. */
const LIMIT = 120;

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-first-denial-'));
const project = join(folder, 'my-api');
const env = outsideEnvironment();
let service: ChildProcess | undefined;
try {
  const browser = await startVisitor();
  try {
    process.exitCode = await measure(browser, resolve(process.argv[2] ?? (await pack())));
  } finally {
    await browser.close();
  }
} finally {
  await stop(service);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function measure(browser: Browser, tarball: string): Promise<number> {
  const steps: [name: string, seconds: number][] = [];
  const time = async <T>(name: string, step: () => Promise<T>): Promise<T> => {
    const from = performance.now();
    const result = await step();
    steps.push([name, (performance.now() - from) / 1000]);
    return result;
  };
  const from = ['--yes', `--package=${tarball}`, '--', 'bailiwick'];
  await time('npx bailiwick init my-api', () =>
    npm(folder, 'exec', ...from, 'init', 'my-api', '--template', 'newsroom', '--example-data', '--yes'),
  );
  // From the packed file, because this version need not be published.
  await time('npm install', () => npm(project, 'install', '--no-audit', '--no-fund', tarball));
  const link = await time('npx bailiwick dev', startDev);
  const page = await time('create the admin in the console', () => createAdminInConsole(browser, link, ADMIN));
  const decision = await time('node example-data/load.mjs', () => loadExampleData(new URL(link).origin));
  const explanation = await time('the denied request in the console', () => readExplanation(page, decision));
  const total = steps.reduce((sum, [, seconds]) => sum + seconds, 0);
  for (const [name, seconds] of [...steps, ['total', total] as const]) print(`${seconds.toFixed(1).padStart(6)} s  ${name}`);
  print(`\n${explanation}`);
  if (total <= LIMIT) return 0;
  print(`expected at most ${LIMIT} s`);
  return 1;
}

async function pack(): Promise<string> {
  const { stdout } = await npm(checkout, 'pack', '--silent', '--pack-destination', folder);
  return join(folder, stdout.trim().split('\n').at(-1) ?? '');
}

/** Stops the service and npx, which does not pass signals on in every version: both are in one process group. Waits until both have ended. */
async function stop(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid === undefined) return;
  for (let signal: 'SIGTERM' | 0 = 'SIGTERM'; signalGroup(child.pid, signal); signal = 0) await pause(50);
}

/** Returns false if no process of the group is left. */
function signalGroup(pid: number, signal: 'SIGTERM' | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    if ((error as { code?: string }).code !== 'ESRCH') throw error;
    return false;
  }
}

/** Starts the service, and returns the link that creates the first admin when it has printed it. */
async function startDev(): Promise<string> {
  const child = spawn('npx', ['bailiwick', 'dev', '--port', '0'], {
    cwd: project,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  service = child;
  let printed = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    printed += chunk;
    const [, link] = /(http:\/\/\S+\/console\/setup#token=\S+)\n/.exec(printed) ?? [];
    if (link !== undefined) return link;
  }
  throw new Error(`the service ended: ${printed}`);
}

/** Loads the example data, and returns the address of the explanation of its last request, which was denied. */
async function loadExampleData(url: string): Promise<string> {
  const admin = { BAILIWICK_URL: url, ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password };
  const { stdout } = await run('node', ['example-data/load.mjs'], { cwd: project, env: { ...env, ...admin } });
  const [address] = /http:\/\/\S+\/console\/decisions\/[\w-]+/.exec(stdout) ?? [];
  if (address === undefined) throw new Error(`expected a denied request: ${stdout}`);
  return address;
}

function npm(cwd: string, ...args: readonly string[]): Promise<{ readonly stdout: string }> {
  const [command, ...rest] = args[0] === 'exec' ? ['npx', ...args.slice(1)] : ['npm', ...args];
  return run(command as string, rest, { cwd, env, maxBuffer: 16 * 1024 * 1024, shell: process.platform === 'win32' });
}

/** Returns the environment without what npm adds for this checkout, except for its Node.js: that of the machine may be too old. */
function outsideEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) && !/^BAILIWICK_/.test(name));
  const outside = Object.fromEntries(entries);
  const folders = (outside['PATH'] ?? '').split(delimiter).filter((each) => !each.startsWith(join(checkout, 'node_modules') + sep));
  return { ...outside, PATH: [dirname(process.execPath), ...folders].join(delimiter) };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
