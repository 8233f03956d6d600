import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { pause } from '../test/process/program.ts';

/** Milliseconds to wait for the first response of a server. */
const PATIENCE = 60_000;

/** Clock ticks per second in which Linux shows the processor time of a process. */
const TICKS = 100;

/** The options of Node.js with which `npm start` runs the service. Contestants on Node.js have the same. */
export const NODE_OPTIONS: readonly string[] = ['--max-semi-space-size=8', '--v8-pool-size=1'];

/** A server of a contestant. */
export interface Starting {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** URL that returns a success status once the server is ready. */
  readonly probe: string;
}

/** Starts a server and waits until it responds. It is killed when this process ends. */
export async function startServer({ command, args, cwd, env = {}, probe }: Starting): Promise<ChildProcess> {
  const child = spawn(command, args, {
    ...(cwd !== undefined && { cwd }),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const orphan = (): boolean => child.kill('SIGKILL');
  process.once('exit', orphan);
  child.once('exit', () => process.off('exit', orphan));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-5000);
    });
  }
  for (const from = performance.now(); performance.now() - from < PATIENCE && child.exitCode === null; await pause(50)) {
    if (await answers(probe)) return child;
  }
  child.kill('SIGKILL');
  throw new Error(`expected ${command} to answer at ${probe}; its output: ${output}`);
}

/** Ends a process and waits for its end. */
export async function stopServer(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

/** Returns the resident memory of a process (or its peak) in megabytes; NaN on systems other than Linux. */
export function residentMb({ pid }: Pick<ChildProcess, 'pid'>, what: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  try {
    return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024;
  } catch {
    return Number.NaN;
  }
}

/**
 * Returns the processor time that a process and its running child processes have used, in microseconds; NaN on systems other than Linux. A child
 * process that ends meanwhile counts as 0.
 */
export function processorTime({ pid }: Pick<ChildProcess, 'pid'>): number {
  try {
    // The fields after the name of the program, which may contain spaces: state is the first, user and system time are the twelfth and the next.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (
      (Number(fields[11]) + Number(fields[12])) * (1e6 / TICKS) + sum(childrenOf(pid).map((child) => processorTime({ pid: child }) || 0))
    );
  } catch {
    return Number.NaN;
  }
}

/** Returns the ids of the processes that the main thread of a process has started. */
function childrenOf(pid: number | undefined): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}

async function answers(probe: string): Promise<boolean> {
  try {
    return (await fetch(probe)).ok;
  } catch {
    return false;
  }
}
