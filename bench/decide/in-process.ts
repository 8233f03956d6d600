import { bailiwick, bailiwickByUser, bailiwickTraced } from '../contestants/bailiwick.ts';
import { casbin } from '../contestants/casbin.ts';
import { caslKept, caslPerRequest } from '../contestants/casl.ts';
import { cedar } from '../contestants/cedar.ts';
import { type Contestant, type Run, SHAPES, type Shape } from '../contestants/shape.ts';
import type { Tell } from '../measurement.ts';
import { type Options, pick } from '../options.ts';
import { type Racer, race } from '../rounds.ts';

/** Milliseconds of one turn for each of `--seconds`: decisions need less time than requests to settle; a single one may take longer. */
const TURN_MS = 10;
/** Before measuring, in turns. */
const WARM_TURNS = 5;

const CONTESTANTS: readonly Contestant[] = [bailiwick, bailiwickTraced, bailiwickByUser, caslKept, caslPerRequest, cedar, casbin];

/** What a decision costs in the process that asks for it, in time of its own thread. */
export async function measureInProcess(options: Options, tell: Tell): Promise<void> {
  for (const shape of pick(options, SHAPES)) {
    for (const { name, rounds } of await race(await prepareAll(shape, options), options.rounds)) {
      tell({ measurement: 'decide', case: shape.name, setting: 'in process', contestant: name, unit: 'µs', better: 'less', rounds });
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

/** Microseconds a run, over about as many milliseconds as are given: of this thread's own time, so that what else the machine does counts little. */
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
    // Looking at the clock costs something too: seldom where runs are short.
    if (spent < milliseconds * 50) batch *= 2;
  }
  return spent / runs;
}
