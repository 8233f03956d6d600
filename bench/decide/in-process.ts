import { bailiwick, bailiwickByUser, bailiwickTraced } from '../contestants/bailiwick.ts';
import { casbin } from '../contestants/casbin.ts';
import { caslKept, caslPerRequest } from '../contestants/casl.ts';
import { cedar } from '../contestants/cedar.ts';
import { type Contestant, type Run, SHAPES, type Shape } from '../contestants/shape.ts';
import type { OnFigure } from '../measurement.ts';
import { type Options, pick } from '../options.ts';
import { type Racer, race } from '../rounds.ts';

/** Milliseconds of a turn for each second of `--seconds`: decisions need shorter turns than requests. A single slow decision may exceed them. */
const TURN_MS = 10;
/** Length of the warm-up, in turns. */
const WARM_TURNS = 5;

const CONTESTANTS: readonly Contestant[] = [bailiwick, bailiwickTraced, bailiwickByUser, caslKept, caslPerRequest, cedar, casbin];

/** Measures decisions within this process, in processor time of its thread. */
export async function measureInProcess(options: Options, onFigure: OnFigure): Promise<void> {
  for (const shape of pick(options, SHAPES)) {
    for (const { name, rounds } of await race(await prepareAll(shape, options), options.rounds)) {
      onFigure({ measurement: 'decide', case: shape.name, setting: 'in process', contestant: name, unit: 'µs', better: 'less', rounds });
    }
  }
}

async function prepareAll(shape: Shape, options: Options): Promise<readonly Racer[]> {
  const milliseconds = options.seconds * TURN_MS;
  const racers: Racer[] = [];
  for (const { name, prepare } of pick(options, CONTESTANTS)) {
    const run = await prepare(shape);
    if (run === undefined) continue;
    if (!run()) throw new Error(`${name} denies what ${shape.name} allows`);
    spend(run, milliseconds * WARM_TURNS);
    racers.push({ name, turn: async () => ({ value: spend(run, milliseconds) }) });
  }
  return racers;
}

/** Returns the microseconds of one run. Uses the processor time of this thread, so that other load on the machine has little effect. */
function spend(run: Run, milliseconds: number): number {
  const began = process.threadCpuUsage();
  let runs = 0;
  let batch = 1;
  let spent = 0;
  while (spent < milliseconds * 1000) {
    for (let count = 0; count < batch; count++) run();
    runs += batch;
    const { user, system } = process.threadCpuUsage(began);
    spent = user + system;
    // Reading the clock takes time, so short runs are grouped.
    if (spent < milliseconds * 50) batch *= 2;
  }
  return spent / runs;
}
