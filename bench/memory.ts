import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasContestant, installContestants } from './contestants/install.ts';
import { moveTo } from './cores.ts';
import { bailiwick } from './http/bailiwick.ts';
import { ceiling } from './http/ceiling.ts';
import type { CaseName, HttpContestant, PreparedContestant, Service } from './http/contestant.ts';
import { pocketbase } from './http/pocketbase.ts';
import { load } from './load.ts';
import type { Figure, Measurement, OnFigure } from './measurement.ts';
import { type Options, pick } from './options.ts';
import { residentMb } from './process.ts';
import { slopeOf } from './statistics.ts';

const CONTESTANTS: readonly HttpContestant[] = [bailiwick, ceiling, pocketbase];
/** Cases that take turns of one second. */
const MIX: readonly CaseName[] = ['read by id', 'list of 20', 'create', 'update'];
const CONNECTIONS = 64;
/** Milliseconds to wait before memory at rest is read. */
const REST_MS = 2000;

/** Measures the memory of a service, and its growth with the number of requests. */
export const memory: Measurement = {
  name: 'memory',
  description:
    'Resident memory: at rest, the peak under load, and at rest again. The last row is the growth for each million requests: the slope of a line fitted to the second half of the load.',
  optionNames: ['records', 'memorySeconds'],
  async run(options, onFigure) {
    installContestants();
    for (const contestant of pick(options, CONTESTANTS)) {
      if (contestant.needs === undefined || hasContestant(contestant.needs)) await measure(contestant, options, onFigure);
    }
  },
};

async function measure(contestant: HttpContestant, options: Options, onFigure: OnFigure): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
  const own = join(folder, 'own');
  mkdirSync(own);
  moveTo('server');
  let service: Service | undefined;
  try {
    const prepared = await contestant.prepare({ folder: own, records: options.records, own: Math.min(200, options.records), postgres: '' });
    service = await prepared.start();
    moveTo('load');
    const figure = (setting: string, value: number, unit = 'MB'): Figure => ({
      ...{ measurement: 'memory', case: 'resident memory', setting, contestant: contestant.name, unit, better: 'less', rounds: [value] },
    });
    await rest();
    onFigure(figure('at rest', residentMb(service.child)));
    const points = await loadFor(prepared, service, options.memorySeconds);
    onFigure(figure('at most', residentMb(service.child, 'VmHWM')));
    await rest();
    onFigure(figure('at rest again', residentMb(service.child)));
    const half = points.slice(Math.floor(points.length / 2));
    const beside = { requests: points.at(-1)?.[0] ?? 0 };
    onFigure({ ...figure('added by a million requests', slopeOf(half) * 1e6), beside });
  } finally {
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Loads the service, and returns the number of requests and the resident megabytes after each second. */
async function loadFor(
  { calls }: PreparedContestant,
  { url, child }: Service,
  seconds: number,
): Promise<readonly (readonly [number, number])[]> {
  const points: (readonly [number, number])[] = [];
  let requests = 0;
  for (let second = 0; second < seconds; second++) {
    const call = calls[MIX[second % MIX.length] ?? 'read by id'];
    if (call === undefined) continue;
    requests += (await load(call, { url, connections: CONNECTIONS, seconds: 1 })).rate;
    points.push([requests, residentMb(child)]);
  }
  return points;
}

function rest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, REST_MS));
}
