/**
 * Measures the cost of many users and policies: `node bench/scale.ts [users] [policies] [checkout …]`. Prints the time from start to the
 * first response, the memory, the duration of a user's first and second request, and the time to change a policy. Two policies are
 * assigned to each user. Measures each checkout (by default this one) on a SQLite file and on a PostgreSQL server that it starts;
 * `BENCH_ON=sqlite` or `BENCH_ON=postgres` selects one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SignJWT } from 'jose';
import { startPostgres } from '../test/postgres/server.ts';
import { expectDone, idOf, send, setUp } from '../test/process/program.ts';
import { openFilling } from './fill.ts';
import { fillPolicies } from './fill-policies.ts';
import { residentMb, stopServer } from './process.ts';
import { quantile } from './statistics.ts';

const USERS = Number(process.argv[2] ?? 1_000_000);
const POLICIES = Number(process.argv[3] ?? 10_000);
const CHECKOUTS = process.argv.length > 4 ? process.argv.slice(4) : ['.'];
const CALLER_COUNT = 200;
const CHANGES = 5;
/** The users whose requests are measured, spread evenly over all users. */
const CALLERS = Array.from({ length: CALLER_COUNT }, (_, index) => `u${1 + Math.floor((index * USERS) / CALLER_COUNT)}`);

const secret = randomBytes(32).toString('hex');
const folder = mkdtempSync(join(tmpdir(), 'bailiwick-scale-'));
const project = join(folder, 'project');
mkdirSync(join(project, 'resources'), { recursive: true });
writeFileSync(join(project, 'resources', 'article.yaml'), 'name: Article\nfields:\n  title: { type: string }\n');

process.stdout.write(`${USERS} users × 2 assignments, ${POLICIES} policies; load ${loadavg()[0]?.toFixed(1)}\n`);
const ON = process.env['BENCH_ON'] ?? 'sqlite,postgres';
const server = ON.includes('postgres') ? await startPostgres() : undefined;
try {
  for (const checkout of CHECKOUTS) {
    // The service refuses to create a database beside the keys of another one.
    rmSync(join(folder, 'keys'), { recursive: true, force: true });
    const file = join(mkdtempSync(join(folder, 'data-')), 'bench.db');
    if (ON.includes('sqlite')) await report(`${checkout} on SQLite`, resolve(checkout), `sqlite:${file}`);
    const schema = `bench_${randomBytes(4).toString('hex')}`;
    if (server !== undefined) await report(`${checkout} on PostgreSQL`, resolve(checkout), `${server.url}?schema=${schema}`);
  }
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function report(title: string, checkout: string, database: string): Promise<void> {
  const prepared = await prepare(checkout, database);
  await fill(database);
  process.stdout.write(`\n${title}\n`);
  for (const [name, figure] of await measure(prepared)) process.stdout.write(`  ${name.padEnd(44)} ${figure}\n`);
}

interface Prepared {
  readonly checkout: string;
  readonly database: string;
  readonly admin: string;
  readonly article: string;
  readonly policy: string;
}

/** Creates the tables, an admin, one record, and a policy that allows all users to read. */
async function prepare(checkout: string, database: string): Promise<Prepared> {
  const { child, url } = await start(checkout, database);
  const admin = await setUp(url);
  const article = idOf(await expectDone(send(url, 'POST /api/Article', { token: admin, body: { title: 'Measured' } })));
  const rules = [{ resource: 'Article', action: 'read', effect: 'ALLOW' }];
  const body = { name: 'Readers', type: 'CUSTOM', rules };
  const policy = idOf(await expectDone(send(url, 'POST /admin/api/policies', { token: admin, body })));
  await expectDone(send(url, `POST /admin/api/policies/${policy}/assign/role/user`, { token: admin, body: {} }));
  await stopServer(child, 'SIGKILL');
  return { checkout, database, admin, article, policy };
}

async function measure({ checkout, database, admin, article, policy }: Prepared): Promise<readonly (readonly [string, string])[]> {
  const read = `GET /api/Article/${article}` as const;
  const ask = (token = ''): Promise<unknown> => expectDone(send(service.url, read, { token }));
  const tokens = await Promise.all(CALLERS.map(tokenOf));
  const before = performance.now();
  const service = await start(checkout, database);
  const listening = performance.now() - before;
  await ask(tokens[0]);
  const first = performance.now() - before;
  const rows: (readonly [string, string])[] = [
    ['start until listening', `${listening.toFixed(0)} ms`],
    ['start until the first response', `${first.toFixed(0)} ms`],
    ['resident memory then, and its peak', `${held(service.child)}`],
  ];
  const timed = async (tokens: readonly (string | undefined)[]): Promise<string> => {
    const times: number[] = [];
    for (const token of tokens) times.push(await time(() => ask(token)));
    return quantiles(times);
  };
  await timed(Array(CALLER_COUNT).fill(tokens[0]));
  rows.push(["a user's first request", await timed(tokens.slice(1))], ['their second request', await timed(tokens.slice(1))]);
  const [changes, followed]: [number[], number[]] = [[], []];
  for (let index = 0; index < CHANGES; index++) {
    const body = { priority: 100 + index };
    changes.push(await time(() => expectDone(send(service.url, `PUT /admin/api/policies/${policy}`, { token: admin, body }))));
    followed.push(await time(() => ask(tokens[0])));
  }
  rows.push(['a change of a policy', quantiles(changes)], ['the request after it', quantiles(followed)]);
  rows.push(['resident memory at the end, and its peak', `${held(service.child)}`]);
  await stopServer(service.child, 'SIGKILL');
  return rows;
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

function quantiles(times: readonly number[]): string {
  const at = (share: number) => quantile(times, share).toFixed(1);
  return `${at(0.5)} ms (${at(0.05)}–${at(0.95)})`;
}

function held(child: ChildProcess): string {
  return `${residentMb(child).toFixed(0)} MB, ${residentMb(child, 'VmHWM').toFixed(0)} MB`;
}

/** Creates an access token for the session that `fill` creates for a user. */
function tokenOf(userId: string): Promise<string> {
  const claims = { sid: `session-${userId}`, role: 'user' };
  const token = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' }).setSubject(userId);
  return token.setIssuer('bailiwick').setAudience('bailiwick').setIssuedAt().setExpirationTime('2h').sign(new TextEncoder().encode(secret));
}

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
}

/** Starts the service of a checkout; `service.ts` starts only that of this one. */
async function start(checkout: string, database: string): Promise<Running> {
  const flags = ['--project', project, '--data', join(folder, 'keys'), '--database', database, '--port', '0'];
  const env = {
    ...process.env,
    BAILIWICK_JWT_SECRET: secret,
    BAILIWICK_LOG_LEVEL: 'error',
    BAILIWICK_RATE_LIMIT: '1000000',
    BAILIWICK_BACKUPS_KEPT: '0',
  };
  const child = spawn(process.execPath, [join(checkout, 'bin/bailiwick.js'), 'start', ...flags], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return new Promise((found, fail) => {
    let output = '';
    child.once('exit', (code) => fail(new Error(`the service ended with exit code ${code}: ${output}`)));
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      const url = /listens on (\S+)/.exec(output)?.[1];
      if (url !== undefined) found({ child, url });
    });
  });
}

/** Inserts users, policies with two rules, two assignments for each user, and a session for each caller. */
async function fill(database: string): Promise<void> {
  const filling = await openFilling(database);
  const condition = `'{"field":"resource.title","operator":"eq","value":"' || i || '"}'`;
  await fillPolicies(filling, { users: USERS, policies: POLICIES, each: 2, action: 'update', condition });
  const callers = CALLERS.map((id) => `'${id}'`).join(', ');
  await filling.exec(`INSERT INTO "_Session" ("id", "userId", "createdAt", "expiresAt")
    SELECT 'session-' || "id", "id", '2026-01-01T00:00:00.000Z', '9999-01-01T00:00:00.000Z' FROM "User" WHERE "id" IN (${callers})`);
  await filling.close();
}
