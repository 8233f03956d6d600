import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Processor cores for the servers and for the load generator. */
export interface Cores {
  readonly server: string;
  readonly load: string;
}

/** Half of the cores for each; undefined if there is only one core, or no `taskset`. */
export const CORES: Cores | undefined = findCores();

/**
 * Moves this process with all its threads to some cores. Child processes inherit them: a measurement moves to the cores of the servers,
 * starts them, and then moves to the cores of the load generator. Without separate cores it does nothing, and the page of results says so.
 */
export function moveTo(where: keyof Cores): void {
  if (CORES !== undefined) tryTaskset(['-a', '-p', '-c', CORES[where], String(process.pid)]);
}

function findCores(): Cores | undefined {
  const cores = readAllowed();
  if (cores.length < 2 || !tryTaskset(['-V'])) return undefined;
  const half = Math.ceil(cores.length / 2);
  return { server: cores.slice(0, half).join(','), load: cores.slice(half).join(',') };
}

function tryTaskset(flags: readonly string[]): boolean {
  try {
    execFileSync('taskset', flags, { stdio: 'ignore' });
    return true;
  } catch {
    // `taskset` is missing or not permitted.
    return false;
  }
}

/** Reads the cores that this process may use; Linux shows them as `0-1,4`. */
function readAllowed(): readonly number[] {
  try {
    const list = /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
    return list.split(',').flatMap((range) => {
      const [from = 0, to = from] = range.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    });
  } catch {
    return [];
  }
}
