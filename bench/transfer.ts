/**
 * Imports and exports of many rows over HTTP, each row decided by an own-records policy and recorded: rows per second, and
 * the most memory that the server ever held, started as `npm start` starts it. Run: `npm run bench:transfer [rows]`. Server and client are processes of their own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const CHUNK = 500;

const data = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
const { child, url } = await start();
const asked = watchReads();
try {
  const { token, authorId } = await prepare();
  report('resident at rest', `${peakMb().toFixed(0)} MB`);
  await measure('import NDJSON', () => importRows({ token, type: 'application/x-ndjson', rows: ndjson(authorId) }));
  await measure('export CSV', () => exportRows(token, 'csv'));
  await measure('export NDJSON', () => exportRows(token, 'ndjson'));
  await measure('import CSV, dry run', () => importRows({ token, type: 'text/csv', rows: csv(authorId), query: '?dryRun=true' }));
} finally {
  child.kill('SIGKILL');
  rmSync(data, { recursive: true, force: true });
}
process.exit(0);

async function measure(name: string, work: () => Promise<number>): Promise<void> {
  const began = performance.now();
  asked.begin(name.startsWith('import'));
  const rows = await work();
  const seconds = (performance.now() - began) / 1000;
  const reads = await asked.end();
  report(name, `${rows} rows in ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} rows/s, peak ${peakMb().toFixed(0)} MB${reads}`);
}

function report(name: string, figures: string): void {
  process.stdout.write(`${name.padEnd(24)} ${figures}\n`);
}

async function* ndjson(authorId: string): AsyncGenerator<Buffer> {
  for (let row = 0; row < ROWS; row += CHUNK) {
    const size = Math.min(CHUNK, ROWS - row);
    const lines = Array.from({ length: size }, (_, index) => `${JSON.stringify({ ...article(row + index), authorId })}\n`);
    yield Buffer.from(lines.join(''));
  }
}

async function* csv(authorId: string): AsyncGenerator<Buffer> {
  yield Buffer.from('title,slug,body,status,department,authorId\n');
  for (let row = 0; row < ROWS; row += CHUNK) {
    const size = Math.min(CHUNK, ROWS - row);
    const lines = Array.from({ length: size }, (_, index) => {
      const { title, slug, body, status, department } = article(ROWS + row + index);
      return `${title},${slug},"${body}",${status},${department},${authorId}\n`;
    });
    yield Buffer.from(lines.join(''));
  }
}

function article(row: number) {
  return { title: `Measured ${row}`, slug: `m-${row}`, body: 'What happened, and where, '.repeat(4), status: 'draft', department: 'local' };
}

interface Importing {
  readonly token: string;
  readonly type: string;
  readonly rows: AsyncIterable<Buffer>;
  readonly query?: string;
}

async function importRows({ token, type, rows, query = '' }: Importing): Promise<number> {
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
    body: ReadableStream.from(rows),
    duplex: 'half',
  };
  const answer = await fetch(`${url}/api/Article/import${query}`, init as RequestInit);
  const { data: counts, ...rest } = (await answer.json()) as { data?: { imported: number } };
  if (counts?.imported !== ROWS) throw new Error(`expected ${ROWS} rows to be imported, given ${JSON.stringify({ counts, ...rest })}`);
  return counts.imported;
}

async function exportRows(token: string, format: string): Promise<number> {
  const answer = await fetch(`${url}/api/Article/export?format=${format}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  if (answer.body === null || answer.status !== 200) throw new Error(`expected a file, given ${answer.status}`);
  let rows = format === 'csv' ? -1 : 0;
  for await (const chunk of answer.body) for (const byte of chunk) if (byte === 0x0a) rows++;
  if (rows !== ROWS) throw new Error(`expected ${ROWS} rows to be exported, given ${rows}`);
  return rows;
}

/** Reads one record after another meanwhile, as somebody else would: how long each waits. */
function watchReads() {
  let isOn = false;
  let waits: number[] = [];
  let running: Promise<void> = Promise.resolve();
  async function read(): Promise<void> {
    while (isOn) {
      const began = performance.now();
      await (await fetch(`${url}/api/Tip?limit=1`)).arrayBuffer();
      waits.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  return {
    begin(isWanted: boolean) {
      isOn = isWanted;
      waits = [];
      running = read();
    },
    async end(): Promise<string> {
      isOn = false;
      await running;
      waits.sort((a, b) => a - b);
      const at = (part: number): string => `${(waits[Math.floor(waits.length * part)] ?? 0).toFixed(0)} ms`;
      return waits.length < 2 ? '' : `; reads meanwhile: median ${at(0.5)}, 99 % ${at(0.99)}`;
    },
  };
}

/** The most that the server has ever held, as Linux counts it. */
function peakMb(): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

async function start(): Promise<{ child: ChildProcess; url: string }> {
  const args = [
    '--max-semi-space-size=16',
    'src/main.ts',
    'start',
    '--project',
    'examples/newsroom',
    '--data',
    data,
    '--port',
    '0',
    '--rate-limit',
    '0',
  ];
  const server = spawn(process.execPath, args, { cwd: new URL('..', import.meta.url), stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  server.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  while (!/listens on (\S+)\n/.test(text)) await once(server.stdout, 'data');
  return { child: server, url: /listens on (\S+)\n/.exec(text)?.[1] ?? '' };
}

async function prepare(): Promise<{ token: string; authorId: string }> {
  const login = { email: 'ada@example.com', password: 'correct horse battery' };
  await send('/auth/setup', { ...login, name: 'Ada' });
  const admin = String((await send('/auth/login', login))['token']);
  const email = { email: 'maya@example.com', password: 'correct horse battery' };
  const user = (await send('/api/User', { ...email, name: 'Maya' }, admin))['data'] as { id: string };
  const rules = ['import', 'export'].map((action) => ({
    resource: 'Article',
    action,
    conditions: [{ field: 'resource.authorId', operator: 'eq', value: '$' + '{user.id}' }],
  }));
  const policy = (await send('/admin/api/policies', { name: 'own', type: 'ATTRIBUTE_BASED', rules }, admin))['data'] as { id: string };
  await send(`/admin/api/policies/${policy.id}/assign/role/user`, {}, admin);
  return { token: String((await send('/auth/login', email))['token']), authorId: user.id };
}

async function send(path: string, body: unknown, token = ''): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) };
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (answer.status >= 300) throw new Error(`${path} answered ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}
