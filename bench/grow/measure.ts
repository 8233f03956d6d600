import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Program } from '../../test/process/program.ts';
import { moveTo } from '../cores.ts';
import { timeCalls } from '../latency.ts';
import type { Measurement, OnFigure } from '../measurement.ts';
import { type Options, pick } from '../options.ts';
import { race } from '../rounds.ts';
import { startService, timeStart } from '../service.ts';
import { byEntries } from './entries.ts';
import { byPolicies } from './policies.ts';
import { byRecords } from './records.ts';
import type { Growing, Grown } from './sizes.ts';

const GROWING: readonly Growing[] = [byRecords, byPolicies, byEntries];

/** Measures requests and starts with a growing number of records, policies and audit entries. */
export const grow: Measurement = {
  name: 'grow',
  description:
    'Milliseconds of single requests, and of a start until the service listens, with a growing number of records, policies and audit entries. The ratio compares a size with the smallest one.',
  optionNames: ['rounds', 'seconds', 'growRecords', 'growPolicies', 'growEntries'],
  async run(options, onFigure) {
    for (const growing of pick(options, GROWING)) await measureGrowing(growing, options, onFigure);
  },
};

async function measureGrowing(growing: Growing, options: Options, onFigure: OnFigure): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
  const programs: Program[] = [];
  try {
    const all: Grown[] = [];
    for (const size of growing.sizes(options)) {
      const own = join(folder, String(size));
      mkdirSync(own);
      all.push(await growing.fill(own, size));
    }
    moveTo('server');
    await raceAndReport(
      growing.name,
      { name: 'start', racers: all.map((each) => ({ name: each.name, turn: () => timeStart(each.folder, each.database) })) },
      { options, onFigure },
    );
    for (const each of all) programs.push(await startService(each.folder, each.database));
    moveTo('load');
    for (const name of all[0]?.calls.keys() ?? []) {
      const racers = all.map((each, index) => ({ name: each.name, turn: () => ask(each, { program: programs[index], name, options }) }));
      for (const { turn } of racers) await turn();
      await raceAndReport(growing.name, { name, racers }, { options, onFigure });
    }
  } finally {
    for (const program of programs) await program.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Racing {
  readonly name: string;
  readonly racers: Parameters<typeof race>[0];
}

async function raceAndReport(
  what: string,
  { name, racers }: Racing,
  { options, onFigure }: { options: Options; onFigure: OnFigure },
): Promise<void> {
  for (const { name: contestant, rounds, beside } of await race(racers, options.rounds)) {
    onFigure({
      measurement: 'grow',
      case: `${name}, by ${what}`,
      setting: 'one at a time',
      contestant,
      unit: 'ms',
      better: 'less',
      rounds,
      beside,
    });
  }
}

interface Ask {
  readonly program: Program | undefined;
  readonly name: string;
  readonly options: Options;
}

function ask({ calls }: Grown, { program, name, options }: Ask): ReturnType<typeof timeCalls> {
  const call = calls.get(name);
  if (call === undefined || program === undefined) throw new Error(`expected a call "${name}" of a service that runs`);
  return timeCalls(program.url, call, options.seconds);
}
