import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../test/postgres/server.ts';
import { withSchema } from '../../test/postgres/test-database.ts';
import { type Program, pause } from '../../test/process/program.ts';
import { moveTo } from '../cores.ts';
import type { Measurement, OnFigure } from '../measurement.ts';
import { type Options, pick } from '../options.ts';
import { residentMb } from '../process.ts';
import { EXPENSIVE, type ExpensiveRequest } from './expensive-requests.ts';
import { type Callers, fillWorld, startWorld } from './fill-world.ts';
import { type Latencies, startProbe } from './probe.ts';
import { repeatRequests } from './repeat-requests.ts';

/** Milliseconds between two timed requests of one kind. */
const INTERVAL = 20;
const DATABASES = [{ name: 'SQLite' }, { name: 'PostgreSQL' }] as const;
/** Milliseconds for the service to come to rest before a turn. */
const REST = 500;
/** Maximum seconds of the turn without a result before the first round. */
const WARM = 1;

/** Measures the delay of small requests while others send expensive ones. */
export const isolation: Measurement = {
  name: 'isolation',
  description:
    'Milliseconds (99th percentile) of a read by id and of `/healthz`, 50 a second of each, while others repeat an expensive request. `calm` is the same without it. PostgreSQL runs on the cores of the load generator.',
  optionNames: ['rounds', 'seconds', 'isolationRecords', 'isolationPolicies', 'isolationEntries'],
  async run(options, onFigure) {
    for (const { name } of pick(options, DATABASES)) await measureDatabase(name, options, onFigure);
  },
};

async function measureDatabase(name: string, options: Options, onFigure: OnFigure): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
  // PostgreSQL does not share cores with the service: a read by id waits for the server several times, and on a core on which a long statement runs,
  // the operating system adds milliseconds to each of these waits.
  moveTo('load');
  const server = name === 'PostgreSQL' ? await startPostgres() : undefined;
  moveTo('server');
  const data = join(folder, 'data');
  mkdirSync(data);
  const database = server === undefined ? `sqlite:${join(data, 'bailiwick.db')}` : withSchema(server.url);
  try {
    const callers = await fillWorld(data, database, {
      articles: options.isolationRecords,
      policies: options.isolationPolicies,
      entries: options.isolationEntries,
    });
    for (const expensive of pick(options, EXPENSIVE)) {
      moveTo('server');
      // Each case has a service of its own, because an earlier version may not survive the one before.
      const program = await startWorld(data, database);
      moveTo('load');
      await measureCase({ program, callers, database: name, expensive }, options, onFigure);
      await program.stop('SIGKILL');
    }
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Case {
  readonly program: Program;
  readonly callers: Callers;
  /** The name of the database. */
  readonly database: string;
  readonly expensive: ExpensiveRequest;
}

async function measureCase({ program, callers, database, expensive }: Case, options: Options, onFigure: OnFigure): Promise<void> {
  const turns: Turn[] = [];
  await timeTurn({ program, callers }, Math.min(WARM, options.seconds));
  for (let round = 0; round < options.rounds; round++) {
    const calm = await timeTurn({ program, callers }, options.seconds);
    turns.push({ calm, ...(await timeTurn({ program, callers, expensive }, options.seconds)) });
  }
  for (const kind of ['read by id', 'healthz'] as const) {
    const figure = { measurement: 'isolation', case: `${kind}, ${database}`, setting: expensive.name, unit: 'ms', better: 'less' as const };
    const of = (each: TimedTurn): Latencies => each.latencies.get(kind) ?? { p50: Number.NaN, p99: Number.NaN, max: Number.NaN };
    onFigure({ ...figure, contestant: 'calm', rounds: turns.map(({ calm }) => of(calm).p99) });
    onFigure({
      ...figure,
      contestant: 'loaded',
      rounds: turns.map((turn) => of(turn).p99),
      beside: { 'p50 ms': of(turns[0] as Turn).p50, 'max ms': Math.max(...turns.map((turn) => of(turn).max)), ...turns.at(-1)?.beside },
    });
  }
}

interface TimedTurn {
  readonly latencies: ReadonlyMap<string, Latencies>;
  readonly beside: Readonly<Record<string, number>>;
}

interface Turn extends TimedTurn {
  readonly calm: TimedTurn;
}

interface TurnOptions extends Pick<Case, 'program' | 'callers'> {
  readonly expensive?: ExpensiveRequest;
}

async function timeTurn({ program, callers, expensive }: TurnOptions, seconds: number): Promise<TimedTurn> {
  await pause(REST);
  const paths = { 'read by id': { path: `/api/Article/${callers.article}`, token: callers.user }, healthz: { path: '/healthz' } };
  const probe = await startProbe({ url: program.url, interval: INTERVAL, paths });
  const repeated = expensive && repeatRequests(program.url, callers, expensive);
  await pause(seconds * 1000);
  const counted = await repeated?.stop();
  const latencies = await probe.stop();
  const { answered = 0, refused = 0, largestMb = 0, slowestMs = 0 } = counted ?? {};
  const beside = { answered, refused, 'answer MB': largestMb, 'slowest ms': slowestMs, 'peak MB': residentMb(program.child, 'VmHWM') };
  return { latencies, beside };
}
