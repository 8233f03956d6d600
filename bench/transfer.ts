/**
 * Measures imports and exports of many rows over HTTP: `npm run bench:transfer [rows]`. An own-records policy decides each row, and each
 * decision has an audit entry. Prints rows per second, and the peak memory of the server, which runs as `npm start` starts it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProgram } from '../test/process/program.ts';
import { NODE_OPTIONS, residentMb } from './process.ts';
import { prepareCaller } from './service.ts';
import { quantile } from './statistics.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const CHUNK = 500;

const data = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
const program = await startProgram({
  data,
  args: ['--rate-limit', '0'],
  env: { NODE_OPTIONS: NODE_OPTIONS.join(' ') },
});
const { child, url } = program;
const asked = watchReads();
try {
  const { token, caller: authorId } = await prepareCaller(url, ['import', 'export']);
  report('resident memory at rest', `${residentMb(child, 'VmHWM').toFixed(0)} MB`);
  await measure('import NDJSON', () => importRows({ token, type: 'application/x-ndjson', rows: ndjson(authorId) }));
  await measure('export CSV', () => exportRows(token, 'csv'));
  await measure('export NDJSON', () => exportRows(token, 'ndjson'));
  await measure('import CSV, dry run', () => importRows({ token, type: 'text/csv', rows: csv(authorId), query: '?dryRun=true' }));
} finally {
  await program.stop('SIGKILL');
  rmSync(data, { recursive: true, force: true });
}
process.exit(0);

async function measure(name: string, work: () => Promise<number>): Promise<void> {
  const began = performance.now();
  asked.begin(name.startsWith('import'));
  const rows = await work();
  const seconds = (performance.now() - began) / 1000;
  const reads = await asked.end();
  report(
    name,
    `${rows} rows in ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} rows/s, peak ${residentMb(child, 'VmHWM').toFixed(0)} MB${reads}`,
  );
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

/** Sends reads of an anonymous caller meanwhile, and measures their duration. */
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
      const at = (part: number): string => `${quantile(waits, part).toFixed(0)} ms`;
      return waits.length < 2 ? '' : `; reads meanwhile: median ${at(0.5)}, 99 % ${at(0.99)}`;
    },
  };
}
