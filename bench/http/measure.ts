import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../test/postgres/server.ts';
import { hasContestant, installContestants } from '../contestants/install.ts';
import { moveTo } from '../cores.ts';
import { type Call, load, type Sent } from '../load.ts';
import type { Measurement, OnFigure } from '../measurement.ts';
import { type Options, pick } from '../options.ts';
import { processorTime } from '../process.ts';
import { createRace, type Racer } from '../rounds.ts';
import { bailiwick, bailiwickOnPostgres } from './bailiwick.ts';
import { ceiling, ceilingOnPostgres } from './ceiling.ts';
import { CASES, type CaseCall, type CaseName, type HttpContestant, type PreparedContestant, type Service } from './contestant.ts';
import { parseServer } from './parse-server.ts';
import { pocketbase } from './pocketbase.ts';

/** Number of the caller's records, for every table size. */
const OWN = 200;

/** The cases that are also measured on the large table. */
const LARGE: ReadonlySet<CaseName> = new Set<CaseName>(['read by id', 'list of 20', 'list of 20, filter and sort']);

/** The cases that add records. */
const ADDING: ReadonlySet<CaseName> = new Set<CaseName>(['create', 'batch of 50']);

const CONTESTANTS: readonly HttpContestant[] = [bailiwick, ceiling, pocketbase, bailiwickOnPostgres, ceilingOnPostgres, parseServer];

/** Measures requests per second over HTTP, of a caller who may see only their own records. */
export const http: Measurement = {
  name: 'http',
  description: 'Requests per second of a caller who may read and change only their own 200 records, among 10,000 or 1,000,000.',
  optionNames: ['rounds', 'seconds', 'warmSeconds', 'connections', 'records', 'large'],
  async run(options, onFigure) {
    installContestants();
    const names = pick(options, CASES);
    const measuring = { measurement: 'http', contestants: CONTESTANTS, options, onFigure };
    await measureWorld({ ...measuring, records: options.records, names });
    if (options.large > 0) await measureWorld({ ...measuring, records: options.large, names: names.filter((name) => LARGE.has(name)) });
  },
};

/** The contestants, the cases and the size of the table of a measurement. */
export interface Measuring {
  /** The name of the measurement. */
  readonly measurement: string;
  readonly contestants: readonly HttpContestant[];
  readonly records: number;
  readonly names: readonly CaseName[];
  /** True if servers and load generator use all cores together, instead of half of them each. */
  readonly sharesCores?: boolean;
  readonly options: Options;
  readonly onFigure: OnFigure;
}

/** Measures the cases of all contestants that `only` selects, with tables of one size. */
export async function measureWorld({ contestants, names, ...measuring }: Measuring): Promise<void> {
  if (names.length === 0) return;
  const { records, options, sharesCores = false } = measuring;
  const chosen = pick(options, contestants).filter(({ needs }) => needs === undefined || hasContestant(needs));
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
  if (!sharesCores) moveTo('server');
  const server = chosen.some(({ usesPostgres }) => usesPostgres) ? await startPostgres() : undefined;
  const entrants: Entrant[] = [];
  const database = server && { pid: server.pid };
  try {
    for (const [index, contestant] of chosen.entries()) {
      const world = { folder: join(folder, String(index)), records, own: OWN, postgres: server?.url ?? '' };
      mkdirSync(world.folder);
      entrants.push({ contestant, prepared: await contestant.prepare(world) });
    }
    // Cases that add records run after all rounds of the others, so that lists and totals keep their length.
    for (const adds of [false, true]) {
      await measureCases(
        names.filter((name) => ADDING.has(name) === adds),
        { ...measuring, entrants, database },
      );
    }
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Entrant {
  readonly contestant: HttpContestant;
  readonly prepared: PreparedContestant;
}

interface CasesMeasuring extends Omit<Measuring, 'contestants' | 'names'> {
  readonly entrants: readonly Entrant[];
  /** The process of PostgreSQL; undefined if no contestant uses it. */
  readonly database: { readonly pid: number | undefined } | undefined;
}

/** The services that run in the present round. */
type Running = Map<HttpContestant, Service>;

/** Measures the cases in rounds. Each round starts all services again, because the speed of a process can differ from one start to the next. */
async function measureCases(names: readonly CaseName[], { entrants, database, ...measuring }: CasesMeasuring): Promise<void> {
  if (names.length === 0) return;
  const { measurement, records, options, onFigure, sharesCores = false } = measuring;
  const running: Running = new Map();
  const races = names.flatMap((name) =>
    options.connections.map((connections) => ({
      name,
      connections,
      race: createRace(toRacers(name, { entrants, running, database, options, connections })),
    })),
  );
  for (let round = 0; round < options.rounds; round++) {
    try {
      if (!sharesCores) moveTo('server');
      for (const entrant of entrants) running.set(entrant.contestant, await start(entrant, names));
      if (!sharesCores) moveTo('load');
      for (const { race } of races) await race.runRound();
    } finally {
      for (const service of running.values()) await service.stop();
      running.clear();
    }
  }
  const isOnPostgres = new Map(entrants.map(({ contestant: { name, usesPostgres } }) => [name, usesPostgres]));
  for (const { name, connections, race } of races) {
    for (const { name: contestant, rounds, beside } of race.results()) {
      const of = `${connections} connections, ${records.toLocaleString('en')} records`;
      // All contestants take turns; only those on the same database are compared.
      const setting = isOnPostgres.get(contestant) ? `${of}, PostgreSQL` : of;
      onFigure({ measurement, case: name, setting, contestant, unit: 'requests/s', better: 'more', rounds, beside });
    }
  }
}

/** Starts a contestant. @throws Error if it does not respond correctly. */
async function start({ contestant, prepared }: Entrant, names: readonly CaseName[]): Promise<Service> {
  const service = await prepared.start();
  const { status } = await ask(service.url, prepared.foreign);
  if (status !== 403 && status !== 404) throw new Error(`${contestant.name} returns ${status} for a read of another user's article`);
  for (const name of names) await check({ contestant, prepared }, service, name);
  return service;
}

interface RacersOf extends Pick<CasesMeasuring, 'entrants' | 'database'> {
  readonly running: Running;
  readonly options: Options;
  readonly connections: number;
}

function toRacers(name: CaseName, { entrants, running, database, options, connections }: RacersOf): readonly Racer[] {
  return entrants.flatMap(({ contestant, prepared }) => {
    const call = prepared.calls[name];
    if (call === undefined) return [];
    return [
      {
        name: contestant.name,
        async turn() {
          const service = running.get(contestant);
          if (service === undefined) throw new Error(`expected ${contestant.name} to run`);
          return measureTurn(call, service, { connections, options, database: contestant.usesPostgres ? database : undefined });
        },
      },
    ];
  });
}

async function measureTurn(
  call: CaseCall,
  { url, child }: Service,
  { connections, options: { seconds, warmSeconds }, database }: Pick<RacersOf, 'connections' | 'options' | 'database'>,
): Promise<Awaited<ReturnType<Racer['turn']>>> {
  await load(call, { url, connections, seconds: warmSeconds });
  const times = (): readonly number[] => [child, ...(database === undefined ? [] : [database])].map(processorTime);
  const before = times();
  const { rate, requests, beside } = await load(call, { url, connections, seconds });
  const [own, ofDatabase] = times().map((time, index) => (time - (before[index] ?? 0)) / requests);
  return { value: rate, beside: { ...beside, 'processor µs': own ?? 0, ...(ofDatabase !== undefined && { 'PostgreSQL µs': ofDatabase }) } };
}

/** Checks that the contestant responds correctly. @throws Error if it does not. */
async function check({ contestant, prepared: { calls, caller } }: Entrant, { url }: Service, name: CaseName): Promise<void> {
  const call = calls[name];
  if (call === undefined) return;
  const { status, body } = await ask(url, call);
  const wrong = status >= 300 ? `status ${status}` : findWrong(name, call, { body, caller });
  if (wrong !== undefined) throw new Error(`${contestant.name}, ${name}: ${wrong}: ${JSON.stringify(body).slice(0, 500)}`);
}

function findWrong(name: CaseName, call: CaseCall, { body, caller }: { body: unknown; caller: string }): string | undefined {
  const { authors, total } = call.read(body);
  if (authors.some((author) => author !== caller)) return `expected only articles of ${caller}`;
  if (name === 'total') return total === OWN ? undefined : `expected a total of ${OWN}, given ${total}`;
  const expected = name.startsWith('list') ? 20 : name.startsWith('batch') ? 50 : 1;
  return authors.length === expected ? undefined : `expected ${expected} articles, given ${authors.length}`;
}

let asked = 0;

async function ask(url: string, call: Call): Promise<{ readonly status: number; readonly body: unknown }> {
  const { method, path, body }: Sent = call.toRequest(1e9 + asked++);
  const answer = await fetch(`${url}${path}`, { method, headers: call.headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  return { status: answer.status, body: await answer.json() };
}
