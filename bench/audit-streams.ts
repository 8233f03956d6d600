/**
 * Measures the cost of streams of the audit log: `node bench/audit-streams.ts [streams] [seconds] [rounds] [checkout …]`. Prints the processor
 * time of the service for a read by id, and its latency, without and with open streams, for each checkout (by default this one), on SQLite.
 * 64 connections read at the same time, and each read adds an entry that all streams receive.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createUser, expectDone, idOf, logIn, type Program, send } from '../test/process/program.ts';
import { moveTo } from './cores.ts';
import { type Call, load } from './load.ts';
import { processorTime } from './process.ts';
import { prepareCaller, startService } from './service.ts';
import { median } from './statistics.ts';

const [STREAMS = 20, SECONDS = 5, ROUNDS = 5] = process.argv.slice(2, 5).map(Number);
const CHECKOUTS = process.argv.length > 5 ? process.argv.slice(5) : ['.'];
const CONNECTIONS = 64;
/** A user may have ten open streams. */
const STREAMS_PER_USER = 10;

interface Contestant {
  readonly checkout: string;
  readonly program: Program;
  readonly call: Call;
  /** Tokens of admins. */
  readonly readers: readonly string[];
  readonly figures: { readonly calm: Figure[]; readonly followed: Figure[] };
}

interface Figure {
  readonly microseconds: number;
  readonly p50: number;
  readonly p99: number;
  /** Megabytes that the streams have received. */
  readonly received: number;
}

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-streams-'));
try {
  moveTo('server');
  const contestants: Contestant[] = [];
  for (const checkout of CHECKOUTS) contestants.push(await prepare(checkout));
  moveTo('load');
  process.stdout.write(
    `${STREAMS} streams, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s; load ${loadavg()[0]?.toFixed(1)}\n`,
  );
  for (let round = 0; round < ROUNDS; round++) {
    for (const contestant of contestants) {
      contestant.figures.calm.push(await measure(contestant, 0));
      contestant.figures.followed.push(await measure(contestant, STREAMS));
    }
  }
  for (const { checkout, figures, program } of contestants) {
    process.stdout.write(`${checkout}\n  without streams: ${describe(figures.calm)}\n  with streams:    ${describe(figures.followed)}\n`);
    await program.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function prepare(checkout: string): Promise<Contestant> {
  const data = mkdtempSync(join(folder, 'data-'));
  const program = await startService(data, `sqlite:${join(data, 'bench.db')}`, { main: join(resolve(checkout), 'bin/bailiwick.js') });
  const { url } = program;
  const { caller, token, admin } = await prepareCaller(url, ['read']);
  const article = { title: 'An article', slug: 'an-article', body: 'text', status: 'draft', authorId: caller };
  const id = idOf(await expectDone(send(url, 'POST /api/Article', { token: admin, body: article })));
  const call: Call = {
    headers: { authorization: `Bearer ${token}` },
    toRequest: () => ({ method: 'GET', path: `/api/Article/${id}` }),
  };
  const readers: string[] = [];
  for (let number = 0; number * STREAMS_PER_USER < STREAMS; number++) {
    const email = `reader${number}@example.com`;
    await createUser(url, admin, { email, role: 'admin' });
    readers.push(await logIn(url, email));
  }
  return { checkout, program, call, readers, figures: { calm: [], followed: [] } };
}

async function measure({ program, call, readers }: Contestant, streams: number): Promise<Figure> {
  let bytes = 0;
  const open = Array.from({ length: streams }, (_, number) =>
    follow(program.url, readers[Math.floor(number / STREAMS_PER_USER)] ?? '', (received) => (bytes += received)),
  );
  const before = processorTime(program.child);
  const { requests, beside } = await load(call, { url: program.url, connections: CONNECTIONS, seconds: SECONDS });
  const microseconds = (processorTime(program.child) - before) / requests;
  for (const each of open) each.destroy();
  return { microseconds, p50: beside['p50 ms'] ?? Number.NaN, p99: beside['p99 ms'] ?? Number.NaN, received: bytes / 1e6 };
}

function follow(url: string, token: string, onBytes: (bytes: number) => void): ClientRequest {
  const options = { headers: { authorization: `Bearer ${token}` }, agent: false };
  const sent = request(`${url}/admin/api/decisions/stream?resource=Article`, options, (answer) => {
    if (answer.statusCode !== 200) throw new Error(`expected a stream, given ${answer.statusCode}`);
    answer.on('data', (chunk: Buffer) => onBytes(chunk.length)).on('error', () => undefined);
  });
  sent.on('error', () => undefined).end();
  return sent;
}

function describe(figures: readonly Figure[]): string {
  const of = (member: keyof Figure): string => median(figures.map((figure) => figure[member])).toFixed(1);
  return `${of('microseconds')} µs a read, p50 ${of('p50')} ms, p99 ${of('p99')} ms, ${of('received')} MB`;
}
