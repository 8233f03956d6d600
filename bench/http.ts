/**
 * A first measurement over HTTP: start, memory at rest, and requests per second for read, list and create, each decided
 * by an own-records policy and durably recorded. Run: `npm run bench`, or `BAILIWICK_DATABASE=postgres://… npm run bench`.
 * Server and load run in processes of their own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';

const ROUNDS = 3;
const SECONDS = 5;
const CONNECTIONS = 64;
const RECORDS = 10_000;
const OWN = 200;

const data = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
const { child, url, startMs } = await start();
try {
  const residentMb = readResident(child.pid as number);
  const world = await prepare();
  const rows = [
    ['start until listening', `${startMs.toFixed(0)} ms`],
    ['resident at rest', `${residentMb.toFixed(0)} MB`],
  ];
  for (const [name, options] of Object.entries(cases(world))) {
    await load({ ...options, duration: 2 });
    const rates: number[] = [];
    for (let round = 0; round < ROUNDS; round++) rates.push((await load({ ...options, duration: SECONDS })).rate);
    rates.sort((a, b) => a - b);
    const [lowest, median, highest] = [rates[0], rates[Math.floor(ROUNDS / 2)], rates.at(-1)].map((rate) => Math.round(rate ?? 0));
    rows.push([name, `${median} requests/s (${lowest}–${highest})`]);
  }
  rows.push(['resident after load', `${readResident(child.pid as number).toFixed(0)} MB`]);
  for (const [name, figure] of rows) process.stdout.write(`${name?.padEnd(24)} ${figure}\n`);
} finally {
  child.kill('SIGKILL');
  rmSync(data, { recursive: true, force: true });
}

interface World {
  readonly token: string;
  readonly authorId: string;
  readonly id: string;
}

type Case = Omit<autocannon.Options, 'url'> & { readonly path: string };

function cases({ token, authorId, id }: World): Readonly<Record<string, Case>> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = (): string => JSON.stringify({ title: 'Measured', slug: `m-${process.hrtime.bigint()}`, authorId });
  return {
    'read by id': { path: `/api/Article/${id}`, headers },
    'list of 20, own records': { path: '/api/Article?limit=20', headers },
    create: { path: '/api/Article', method: 'POST', headers, requests: [{ setupRequest: (request) => ({ ...request, body: body() }) }] },
  };
}

async function load({ path, ...options }: Case): Promise<{ readonly rate: number }> {
  const result = await autocannon({ ...options, url: `${url}${path}`, connections: CONNECTIONS });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${path}: ${result.non2xx} refused, ${result.errors} failed`);
  return { rate: result.requests.average };
}

async function prepare(): Promise<World> {
  const login = { email: 'ada@example.com', password: 'correct horse battery' };
  await send('POST', '/auth/setup', { ...login, name: 'Ada' });
  const admin = String((await send('POST', '/auth/login', login))['token']);
  const { id: adminId } = (await send('GET', '/auth/me', undefined, admin))['data'] as { id: string };
  const email = { email: 'maya@example.com', password: 'correct horse battery' };
  const user = (await send('POST', '/api/User', { ...email, name: 'Maya' }, admin))['data'] as { id: string };
  const own = ['read', 'list', 'create'].map((action) => ({
    resource: 'Article',
    action,
    conditions: [{ field: 'resource.authorId', operator: 'eq', value: '$' + '{user.id}' }],
  }));
  const policy = (await send('POST', '/admin/api/policies', { name: 'own', type: 'ATTRIBUTE_BASED', rules: own }, admin))['data'] as {
    id: string;
  };
  await send('POST', `/admin/api/policies/${policy.id}/assign/role/user`, {}, admin);
  for (let from = 0; from < RECORDS; from += 1000) {
    const rows = Array.from({ length: 1000 }, (_, index) => ({
      title: `Article ${from + index}`,
      slug: `article-${from + index}`,
      authorId: (from + index) % (RECORDS / OWN) === 0 ? user.id : adminId,
    }));
    await send('POST', '/api/Article/import', { data: rows }, admin);
  }
  const token = String((await send('POST', '/auth/login', email))['token']);
  const [first] = (await send('GET', '/api/Article?limit=1', undefined, token))['data'] as { id: string }[];
  return { token, authorId: user.id, id: String(first?.id) };
}

async function send(method: string, path: string, body?: object, token?: string): Promise<Record<string, unknown>> {
  const headers = { ...(body && { 'content-type': 'application/json' }), ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer;
}

async function start(): Promise<{ readonly child: ChildProcess; readonly url: string; readonly startMs: number }> {
  const began = performance.now();
  const flags = ['--project', 'examples/newsroom', '--data', data, '--port', '0', '--rate-limit', '0', '--log-level', 'error'];
  const started = spawn(process.execPath, ['src/main.ts', 'start', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    let printed = '';
    started.on('exit', (code) => reject(new Error(`ended with ${code}: ${printed}`)));
    started.stdout.on('data', (chunk) => {
      printed += chunk;
      const found = /listens on (\S+)/.exec(printed)?.[1];
      if (found !== undefined) resolve({ child: started, url: found, startMs: performance.now() - began });
    });
  });
}

function readResident(pid: number): number {
  const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb) / 1024;
}
