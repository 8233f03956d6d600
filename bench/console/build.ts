import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { OnFigure } from '../measurement.ts';
import type { Options } from '../options.ts';
import { residentMb } from '../process.ts';

const SCRIPT = fileURLToPath(new URL('../../scripts/build-console.mjs', import.meta.url));
const STAMP = fileURLToPath(new URL('../../dist/console/.built-from', import.meta.url));

/** Maximum number of builds. Each takes as long as a round of all other parts, and their times differ little. */
const MAX_BUILDS = 3;

/** Milliseconds after which no further build begins. On a busy machine a build takes half a minute. */
const BUDGET = 40_000;

/** Milliseconds between two readings of the memory. */
const READ_EVERY = 20;

/** Builds the console if its sources have changed. */
export async function buildConsole(): Promise<void> {
  const child = spawn(process.execPath, [SCRIPT], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`expected a build of the console, given code ${String(code)}`);
}

/** Measures builds of the console: their duration with the compression of the files, and the memory of all processes at most. */
export async function measureBuild({ rounds }: Options, onFigure: OnFigure): Promise<void> {
  const seconds: number[] = [];
  const megabytes: number[] = [];
  const deadline = performance.now() + BUDGET;
  for (let round = 0; round === 0 || (round < Math.min(rounds, MAX_BUILDS) && performance.now() < deadline); round++) {
    // Without it, the script builds although nothing has changed.
    rmSync(STAMP, { force: true });
    const began = performance.now();
    megabytes.push(await peakOf([SCRIPT]));
    seconds.push((performance.now() - began) / 1000);
  }
  const figure = { measurement: 'console', setting: 'all files', contestant: 'bailiwick', better: 'less' as const };
  onFigure({ ...figure, case: 'duration of the build', unit: 's', rounds: seconds });
  onFigure({ ...figure, case: 'memory of the build', unit: 'MB', rounds: megabytes });
}

/** Runs a script of Node.js. Returns the most memory that its processes have had at one time, in megabytes; NaN on systems other than Linux. */
async function peakOf(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  let peak = 0;
  const timer = setInterval(() => {
    const pids = child.pid === undefined ? [] : withChildren(child.pid);
    peak = Math.max(
      peak,
      pids.reduce((sum, pid) => sum + (residentMb({ pid }) || 0), 0),
    );
  }, READ_EVERY);
  const [code] = await once(child, 'exit');
  clearInterval(timer);
  if (code !== 0) throw new Error(`expected a build of the console, given code ${String(code)}`);
  return peak === 0 ? Number.NaN : peak;
}

/** Returns the ids of a process and of the processes that it has started; only of the process itself on systems other than Linux. */
function withChildren(pid: number): readonly number[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
    );
    return [pid, ...children.flatMap(withChildren)];
  } catch {
    return [pid];
  }
}
