import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Cores for whoever is measured, and for the load. */
export interface Place {
  readonly server: string;
  readonly load: string;
}

/** Half of the cores for each; undefined where there is one core only, or nothing to keep processes on some. */
export const PLACE: Place | undefined = findPlace();

/**
 * Moves this process, with all of its threads. What it starts inherits where it is: so it goes to the servers' cores, starts them,
 * and goes to those of the load. Where there are no such places, everybody runs everywhere, and the page of results says so.
 */
export function moveTo(where: keyof Place): void {
  if (PLACE !== undefined) tryTaskset(['-a', '-p', '-c', PLACE[where], String(process.pid)]);
}

function findPlace(): Place | undefined {
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
    // There is none here, or it may not.
    return false;
  }
}

/** The cores this process may run on, as Linux tells: `0-1,4`. */
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
