import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { pause } from '../test/process/program.ts';

/** Milliseconds for a server to answer for the first time. */
const PATIENCE = 60_000;

/** What is started beside the service itself. */
export interface Starting {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Answers with success once it is ready. */
  readonly probe: string;
}

/** Starts a server of somebody else's, and waits until it answers. It goes with this process. */
export async function startServer({ command, args, cwd, env = {}, probe }: Starting): Promise<ChildProcess> {
  const child = spawn(command, args, {
    ...(cwd !== undefined && { cwd }),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const orphan = (): boolean => child.kill('SIGKILL');
  process.once('exit', orphan);
  child.once('exit', () => process.off('exit', orphan));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      said = (said + chunk).slice(-5000);
    });
  }
  for (const from = performance.now(); performance.now() - from < PATIENCE && child.exitCode === null; await pause(50)) {
    if (await answers(probe)) return child;
  }
  child.kill('SIGKILL');
  throw new Error(`expected ${command} to answer at ${probe}; it said: ${said}`);
}

/** Ends a process and waits for its end. */
export async function stopServer(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

/** What a process holds in memory, in megabytes, as Linux tells; not a number elsewhere. */
export function residentMb({ pid }: ChildProcess, what: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  try {
    return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024;
  } catch {
    return Number.NaN;
  }
}

async function answers(probe: string): Promise<boolean> {
  try {
    return (await fetch(probe)).ok;
  } catch {
    return false;
  }
}
