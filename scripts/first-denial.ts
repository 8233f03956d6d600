/**
 * Times the way of a new user, from an empty folder with nothing but npm to the explanation of the first denied request: packs the package,
 * creates a project, installs, starts `dev`, creates the admin, applies the policies and loads the example data.
 *
 *   npm run newcomer                packs this checkout
 *   npm run newcomer -- PACKAGE.tgz uses a packed package
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

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
  process.exitCode = await measure(resolve(process.argv[2] ?? (await pack())));
} finally {
  await stop(service);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function measure(tarball: string): Promise<number> {
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
  const { url, setupToken } = await time('npx bailiwick dev', startDev);
  const token = await time('create the admin and log in', () => createAdmin(url, setupToken));
  const decision = await time('node example-data/load.mjs', () => loadExampleData(url));
  const explanation = await time('explanation of the denied request', () => explain(url, { decision, token }));
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

/** Stops the service and npx, which does not pass signals on in every version: both are in one process group. */
async function stop(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null) return;
  const ended = once(child, 'close');
  process.kill(-child.pid, 'SIGTERM');
  await ended;
}

/** Starts the service, and returns its address and the setup token when it has printed them. */
async function startDev(): Promise<{ readonly url: string; readonly setupToken: string }> {
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
    const [, url, setupToken] = /(http:\/\/\S+)\/console\/setup#token=(\S+)\n/.exec(printed) ?? [];
    if (url !== undefined && setupToken !== undefined) return { url, setupToken };
  }
  throw new Error(`the service ended: ${printed}`);
}

async function createAdmin(url: string, token: string): Promise<string> {
  await send(`${url}/auth/setup`, { body: { ...ADMIN, token } });
  const { email, password } = ADMIN;
  return String((await send(`${url}/auth/login`, { body: { email, password } }))['token']);
}

/** Loads the example data, and returns the id of the decision that denied its last request. */
async function loadExampleData(url: string): Promise<string> {
  const admin = { BAILIWICK_URL: url, ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password };
  const { stdout } = await run('node', ['example-data/load.mjs'], { cwd: project, env: { ...env, ...admin } });
  const [, decision] = /\/console\/decisions\/([\w-]+)\n/.exec(stdout) ?? [];
  if (decision === undefined) throw new Error(`expected a denied request: ${stdout}`);
  return decision;
}

async function explain(url: string, { decision, token }: { readonly decision: string; readonly token: string }): Promise<string> {
  const { data } = (await send(`${url}/admin/api/decisions/${decision}`, { token })) as { data: Readonly<Record<string, unknown>> };
  if (data['allowed'] !== false || !Array.isArray(data['trace']))
    throw new Error(`expected a denial with its trace: ${JSON.stringify(data)}`);
  return `${data['action']} ${data['resource']} was denied: ${data['reason']}`;
}

interface Sent {
  readonly body?: object;
  readonly token?: string;
}

async function send(address: string, { body, token }: Sent): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  const response = await fetch(address, body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`${address}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
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
