/** The worker processes of a started program, a port for them, and a load of changes whose answers are remembered. */
import { execFileSync } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { expectDone, idOf, type Program, pause, send } from './program.ts';

/** Returns the process ids of the workers of a primary. */
export function workersOf({ child }: Program): readonly number[] {
  const listed = execFileSync('ps', ['-o', 'pid=,ppid=', '-A'], { encoding: 'utf8' });
  const pairs = listed
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  return pairs
    .filter(([, parent]) => parent === child.pid)
    .map(([pid]) => pid ?? 0)
    .filter(isAlive);
}

/** Returns whether a process exists. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Finds a port that is free at the moment. */
export function findPort(): Promise<string> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(String(port)));
    });
  });
}

/** Responses to the clients. */
export interface Answered {
  readonly decisions: Set<string | null>;
  readonly created: Set<string>;
  readonly failed: unknown[];
}

/** Creates records one after another until stopped. */
export async function createTips(
  url: string,
  token: string,
  { answered, goesOn }: { answered: Answered; goesOn: () => boolean },
): Promise<void> {
  while (goesOn()) {
    try {
      const reply = await expectDone(send(url, 'POST /api/Tip', { token, body: { subject: 'a tip', text: 'something happened' } }));
      answered.decisions.add(reply.decisionId);
      answered.created.add(idOf(reply));
    } catch (error) {
      answered.failed.push(error);
    }
    // Leaves processor time to the workers that start.
    await pause(5);
  }
}
