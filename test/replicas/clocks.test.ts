/** Replicas whose clocks differ from the clock of the database: they report it in the log and in /readyz, and recover when their clock is right. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { type Program, send } from '../process/program.ts';
import { type Fleet, startFleet } from './fleet.ts';

const preload = fileURLToPath(new URL('shifted-clock.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bailiwick-clocks-'));
const SECOND = 1000;

/** Seconds by which the clock of each replica is ahead. Tokens are accepted with 30 seconds of difference. */
const AHEAD = [0, 20, -20, 45, -3600] as const;
const fileOf = (index: number): string => join(folder, `ahead-${index}`);

let server: PostgresServer;
let fleet: Fleet;
beforeAll(async () => {
  for (const [index, seconds] of AHEAD.entries()) writeFileSync(fileOf(index), String(seconds * SECOND));
  server = await startPostgres({ inMemory: true });
  const replicas = AHEAD.map((_, index) => ({ preload, env: { TEST_CLOCK_FILE: fileOf(index) } }));
  fleet = await startFleet({ server: server.url, replicas });
}, 120_000);
afterAll(async () => {
  await fleet?.close();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const replica = (index: number): Program => fleet.replicas[index] as Program;
const readiness = async (index: number) => {
  const { status, body } = await send(replica(index).url, 'GET /readyz');
  return [status, body.detail];
};
const linesOf = (index: number): string[] =>
  replica(index)
    .printed()
    .split('\n')
    .filter((line) => line.startsWith('the clock of this machine'));

describe('the clock of a replica', () => {
  // These tests build on each other.
  const it = createChain();
  it.each([0, 1, 2])('replica %i with a clock within the leeway of tokens is ready and logs no warning', async (index) => {
    expect(await readiness(index)).toEqual([200, undefined]);
    expect(linesOf(index)).toEqual([]);
  });

  it.each([
    [3, '4\\d s ahead of'],
    [4, '3[56]\\d\\d s behind'],
  ])('replica %i with a clock beyond the leeway is not ready, and logs one warning', async (index, difference) => {
    // The difference includes the time of the statement that read the clock of the database.
    const detail = expect.stringMatching(new RegExp(`^the clock of this machine is ${difference} the clock of the database`));
    expect(await readiness(index)).toEqual([503, detail]);
    for (let asked = 0; asked < 5; asked++) await send(replica(index).url, 'GET /api/Note');
    expect(await readiness(index)).toEqual([503, detail]);
    expect(linesOf(index)).toEqual([detail]);
    expect(linesOf(index)[0]).toMatch(/here it is \S+Z, there \S+Z/);
    // The replica still answers requests: the load balancer must route them elsewhere.
    expect((await send(replica(index).url, 'GET /api/Note')).status).toBe(403);
  });

  it('a replica with a corrected clock is ready again, even if only /readyz is requested', async () => {
    writeFileSync(fileOf(3), '0');
    await expect.poll(() => readiness(3)).toEqual([200, undefined]);
    expect(linesOf(3).at(-1)).toMatch(/is right again/);
  });

  it('a replica whose clock changes while it runs is no longer ready', async () => {
    writeFileSync(fileOf(0), String(-60 * SECOND));
    const statusAfterRequest = async (): Promise<unknown> => {
      // Its transaction reads the clock of the server. Without requests, /readyz reads it seconds later.
      await send(replica(0).url, 'GET /api/Note');
      return (await readiness(0))[0];
    };
    await expect.poll(statusAfterRequest).toBe(503);
  });
});
