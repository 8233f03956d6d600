import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../../test/postgres/server.ts';
import { withSchema } from '../../test/postgres/test-database.ts';
import type { Program } from '../../test/process/program.ts';
import { moveTo } from '../cores.ts';
import { load } from '../load.ts';
import type { Measurement, OnFigure } from '../measurement.ts';
import { type Options, pick } from '../options.ts';
import { processorTime } from '../process.ts';
import { race } from '../rounds.ts';
import { startService } from '../service.ts';
import { type Listing, prepareCallers, VISIBLE } from './fill.ts';

const PROJECT = fileURLToPath(new URL('project', import.meta.url));
const CONNECTIONS = 10;
const DATABASES = ['SQLite', 'PostgreSQL'] as const;
/** Memberships in ascending order; each of them is measured in a database of its own. */
const SIZES = [10_000, 100_000, 1_000_000];

/** Measures lists whose conditions count related records, beside a list of the caller's own records. */
export const relations: Measurement = {
  name: 'relations',
  description: `Requests per second for the first 20 of ${VISIBLE} documents, among 100,000: those that the caller owns, those of the organisations of which the caller is a member, and both. Only the number of memberships changes.`,
  optionNames: ['rounds', 'seconds', 'warmSeconds', 'relationsMemberships'],
  async run(options, onFigure) {
    const sizes = SIZES.filter((size) => size <= options.relationsMemberships);
    for (const database of pick(options, DATABASES)) {
      for (const size of sizes) await measureSize({ database, size }, options, onFigure);
    }
  },
};

interface Setting {
  readonly database: (typeof DATABASES)[number];
  readonly size: number;
}

async function measureSize(setting: Setting, options: Options, onFigure: OnFigure): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
  const data = join(folder, 'data');
  mkdirSync(data);
  moveTo('server');
  const server = setting.database === 'PostgreSQL' ? await startPostgres() : undefined;
  let program: Program | undefined;
  try {
    const database = server === undefined ? `sqlite:${join(data, 'bailiwick.db')}` : withSchema(server.url);
    const first = await startService(data, database, { project: PROJECT });
    const { listings, fill } = await prepareCallers(first.url);
    await first.stop();
    await fill(database, setting.size);
    program = await startService(data, database, { project: PROJECT });
    for (const listing of listings) await check(program.url, listing);
    moveTo('load');
    await measureListings({ listings, program, setting }, options, onFigure);
  } finally {
    await program?.stop();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Measuring {
  readonly listings: readonly Listing[];
  readonly program: Program;
  readonly setting: Setting;
}

async function measureListings({ listings, program, setting }: Measuring, options: Options, onFigure: OnFigure): Promise<void> {
  const { url, child } = program;
  const racers = listings.map(({ name, call }) => ({
    name,
    async turn() {
      await load(call, { url, connections: CONNECTIONS, seconds: options.warmSeconds });
      const before = processorTime(child);
      const { rate, requests, beside } = await load(call, { url, connections: CONNECTIONS, seconds: options.seconds });
      return { value: rate, beside: { ...beside, 'processor µs': (processorTime(child) - before) / requests } };
    },
  }));
  for (const { name, rounds, beside } of await race(racers, options.rounds)) {
    const of = `${setting.size.toLocaleString('en')} memberships, ${setting.database}`;
    onFigure({
      measurement: 'relations',
      case: 'list of 20',
      setting: of,
      contestant: name,
      unit: 'requests/s',
      better: 'more',
      rounds,
      beside,
    });
  }
}

/** Checks that a caller lists exactly the expected number of documents. @throws Error if not. */
async function check(url: string, { name, call }: Listing): Promise<void> {
  const answer = await fetch(`${url}${call.toRequest(0).path}&total=true`, { headers: call.headers });
  const { data = [], total } = (await answer.json()) as { readonly data?: readonly unknown[]; readonly total?: number };
  if (data.length !== 20 || total !== VISIBLE)
    throw new Error(`${name}: expected 20 of ${VISIBLE} documents, given ${data.length} of ${total}`);
}
