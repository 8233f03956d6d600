import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../../test/postgres/server.ts';
import { hasContestant, installContestants } from '../contestants/install.ts';
import { moveTo } from '../cores.ts';
import { type Call, load, type Sent } from '../load.ts';
import type { Measurement, OnFigure } from '../measurement.ts';
import { type Options, pick } from '../options.ts';
import { race } from '../rounds.ts';
import { bailiwick, bailiwickOnPostgres } from './bailiwick.ts';
import { ceiling } from './ceiling.ts';
import { CASES, type CaseCall, type CaseName, type HttpContestant, type Service, type World } from './contestant.ts';
import { parseServer } from './parse-server.ts';
import { pocketbase } from './pocketbase.ts';

/** Number of the caller's records, for every table size. */
const OWN = 200;

/** The cases that are also measured on the large table. */
const LARGE: ReadonlySet<CaseName> = new Set<CaseName>(['read by id', 'list of 20', 'list of 20, filter and sort']);

const CONTESTANTS: readonly HttpContestant[] = [bailiwick, ceiling, pocketbase, bailiwickOnPostgres, parseServer];

/** Measures requests per second over HTTP, of a caller who may see only their own records. */
export const http: Measurement = {
  name: 'http',
  description: 'Requests per second of a caller who may read and change only their own 200 records, among 10,000 or 1,000,000.',
  optionNames: ['rounds', 'seconds', 'warmSeconds', 'connections', 'records', 'large'],
  async run(options, onFigure) {
    installContestants();
    const names = pick(options, CASES);
    await measureWorld({ records: options.records, names, options, onFigure });
    if (options.large > 0)
      await measureWorld({ records: options.large, names: names.filter((name) => LARGE.has(name)), options, onFigure });
  },
};

interface Measuring {
  readonly records: number;
  readonly names: readonly CaseName[];
  readonly options: Options;
  readonly onFigure: OnFigure;
}

async function measureWorld({ records, names, options, onFigure }: Measuring): Promise<void> {
  if (names.length === 0) return;
  const chosen = pick(options, CONTESTANTS).filter(({ needs }) => needs === undefined || hasContestant(needs));
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
  moveTo('server');
  const server = chosen.some(({ usesPostgres }) => usesPostgres) ? await startPostgres() : undefined;
  const services: Running[] = [];
  try {
    for (const [index, contestant] of chosen.entries()) {
      const service = await start(contestant, { folder: join(folder, String(index)), records, own: OWN, postgres: server?.url ?? '' });
      services.push({ contestant, service });
      for (const name of names) await check(contestant.name, service, name);
    }
    moveTo('load');
    for (const name of names) {
      for (const connections of options.connections) await measureCase({ name, connections, services, options, onFigure, records });
    }
  } finally {
    await stopAll(services, server);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function start(contestant: HttpContestant, world: World): Promise<Service> {
  mkdirSync(world.folder);
  const service = await contestant.start(world);
  const { status } = await ask(service.url, service.foreign);
  if (status !== 403 && status !== 404) throw new Error(`${contestant.name} returns ${status} for a read of another user's article`);
  return service;
}

interface Running {
  readonly contestant: HttpContestant;
  readonly service: Service;
}

interface CaseMeasuring {
  readonly name: CaseName;
  readonly connections: number;
  readonly services: readonly Running[];
  readonly options: Options;
  readonly onFigure: OnFigure;
  readonly records: number;
}

async function measureCase({ name, connections, services, options, onFigure, records }: CaseMeasuring): Promise<void> {
  const racing = services.flatMap(({ contestant, service: { url, calls } }) => {
    const call = calls[name];
    return call === undefined ? [] : [{ contestant, call, url }];
  });
  for (const { call, url } of racing) await load(call, { url, connections, seconds: options.warmSeconds });
  const raced = await race(
    racing.map(({ contestant, call, url }) => ({
      name: contestant.name,
      async turn() {
        const { rate, beside } = await load(call, { url, connections, seconds: options.seconds });
        return { value: rate, beside };
      },
    })),
    options.rounds,
  );
  const of = `${connections} connections, ${records.toLocaleString('en')} records`;
  for (const [index, { name: contestant, rounds, beside }] of raced.entries()) {
    // All contestants take turns; only those on the same database are compared.
    const setting = racing[index]?.contestant.usesPostgres ? `${of}, PostgreSQL` : of;
    onFigure({ measurement: 'http', case: name, setting, contestant, unit: 'requests/s', better: 'more', rounds, beside });
  }
}

/** Checks that the contestant responds correctly. @throws Error if it does not. */
async function check(contestant: string, { url, calls, caller }: Service, name: CaseName): Promise<void> {
  const call = calls[name];
  if (call === undefined) return;
  const { status, body } = await ask(url, call);
  const wrong = status >= 300 ? `status ${status}` : findWrong(name, call, { body, caller });
  if (wrong !== undefined) throw new Error(`${contestant}, ${name}: ${wrong}: ${JSON.stringify(body).slice(0, 500)}`);
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

async function stopAll(services: readonly Running[], server: PostgresServer | undefined): Promise<void> {
  for (const { service } of services) await service.stop();
  await server?.stop();
}
