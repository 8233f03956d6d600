/**
 * What a decision costs, beside casbin and CASL in the same run. Run: `npm run bench:decide`.
 * Contestants take turns round by round, so that a busy machine is busy for all of them; figures are medians of the rounds, in time
 * of the deciding thread.
 * `BENCH_ROUNDS` says how many; the contestants are installed on the first run.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { bailiwick, bailiwickByUser, bailiwickTraced } from './contestants/bailiwick.ts';
import { casbin } from './contestants/casbin.ts';
import { caslKept, caslPerRequest } from './contestants/casl.ts';
import { type Contestant, type Run, SHAPES, type Shape } from './contestants/shape.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 9);
/** Of one round of one contestant, in milliseconds; a single decision may take longer. */
const ROUND_MS = 60;
/** Before measuring, in milliseconds. */
const WARM_MS = 300;

const CONTESTANTS: readonly Contestant[] = [bailiwick, bailiwickTraced, bailiwickByUser, caslKept, caslPerRequest, casbin];
const COLUMNS: readonly number[] = [42, 20, 14, 18, 10];

installContestants();
print('# %s', `${cpus()[0]?.model.trim()}, ${cpus().length} cores, node ${process.version}, ${versions()}`);
print('# median microseconds a decision (lowest and highest round of %s), and how many times that of bailiwick', String(ROUNDS));
row(['shape', 'contestant', 'median µs', 'rounds', 'ratio']);
for (const shape of SHAPES) await measure(shape);
row(['']);
row(['snapshot', 'assigned', 'compile ms', 'bytes a policy', 'once every rule was asked for']);
for (const [index, shape] of SHAPES.entries()) {
  if (shape.users.size < 1000) continue;
  const flags = ['--expose-gc', new URL('contestants/memory.ts', import.meta.url).pathname, String(index)];
  process.stdout.write(execFileSync(process.execPath, flags, { encoding: 'utf8' }));
}

async function measure(shape: Shape): Promise<void> {
  const racing: { readonly name: string; readonly run: Run; readonly times: number[] }[] = [];
  for (const { name, prepare } of CONTESTANTS) {
    const run = await prepare(shape);
    if (run === undefined) continue;
    if (!run()) throw new Error(`${name} denies what ${shape.name} allows`);
    spend(run, WARM_MS);
    racing.push({ name, run, times: [] });
  }
  for (let round = 0; round < ROUNDS; round++) for (const { run, times } of racing) times.push(spend(run, ROUND_MS));
  const [ours] = racing.map(({ times }) => median(times));
  for (const { name, times } of racing) {
    const sorted = times.toSorted((a, b) => a - b);
    const spread = `${show(sorted[0])}–${show(sorted.at(-1))}`;
    row([shape.name, name, show(median(times)), spread, `${show(median(times) / (ours ?? 1))} ×`]);
  }
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

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

function show(microseconds = Number.NaN): string {
  return microseconds < 100 ? microseconds.toPrecision(3) : Math.round(microseconds).toLocaleString('en');
}

function row(cells: readonly string[]): void {
  process.stdout.write(
    `${cells
      .map((cell, index) => cell.padEnd(COLUMNS[index] ?? 0))
      .join('')
      .trimEnd()}\n`,
  );
}

function print(text: string, value: string): void {
  process.stdout.write(`${text.replace('%s', () => value)}\n`);
}

function installContestants(): void {
  const folder = new URL('contestants/', import.meta.url).pathname;
  if (!existsSync(`${folder}node_modules/casbin`)) execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
}

function versions(): string {
  const require = createRequire(new URL('contestants/shape.ts', import.meta.url));
  const { dependencies } = require('./package.json') as { dependencies: Readonly<Record<string, string>> };
  return Object.entries(dependencies)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
}
