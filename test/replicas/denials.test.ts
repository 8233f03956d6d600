/** Replicas on one PostgreSQL: no answered denial of a caller without a token is lost, if replicas are killed or the server crashes while windows are open. */
import { afterAll, beforeAll, expect } from 'vitest';
import { casesOf } from '../budget.ts';
import { createChain } from '../chain.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { pause } from '../process/program.ts';
import { untilReady } from './acknowledged-changes.ts';
import { type Fleet, startFleet } from './fleet.ts';

// The tests of this file build on each other.
const it = createChain();

const ROUNDS = casesOf(1);
const CLIENTS = 6;
/** Denials per round, so that most of them are repeated. */
const DENIALS = 120;

let server: PostgresServer;
let fleet: Fleet;
const load = { sent: 0, answered: 0, isOver: false };
let clients: readonly Promise<void>[] = [];

beforeAll(async () => {
  server = await startPostgres();
  const replica = { args: ['--denial-window-seconds', '1', '--log-level', 'error'] };
  fleet = await startFleet({ server: server.url, replicas: [replica, replica] });
  clients = Array.from({ length: CLIENTS }, deny);
}, 120_000);
afterAll(async () => {
  load.isOver = true;
  await Promise.all(clients);
  await fleet?.close();
  await server?.stop();
});

/** Sends requests without a token, also while replicas or the server are gone. */
async function deny(): Promise<void> {
  while (!load.isOver) {
    try {
      load.sent++;
      const response = await fetch(`${fleet.any().url}/api/Note`);
      await response.arrayBuffer();
      if (response.status === 403) load.answered++;
      else if (response.status < 500) throw new Error(`expected 403 or 5xx, given ${response.status}`);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    // Leaves processor time to the replica or the server that starts.
    await pause(5);
  }
}

async function count(sql: string): Promise<number> {
  const [row] = await fleet.query(`SELECT (${sql})::int AS "count"`);
  return Number(row?.['count']);
}

const countOpen = () => count('SELECT coalesce(sum("count"), 0) FROM "_RepeatedDenial"');

/** Calls `strike` in each round, once there are enough denials and a window is open. */
async function eachRound(strike: () => Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const enough = load.answered + DENIALS;
    while (load.answered < enough || (await countOpen()) === 0) await pause(5);
    await strike();
  }
}

it('replicas are killed while windows of denials are open', async () => {
  await eachRound(async () => {
    await fleet.replicas[1]?.stop('SIGKILL');
    await fleet.start(1);
  });
});

it('the server crashes while windows of denials are open', async () => {
  await eachRound(async () => {
    await server.crash();
    await server.start();
    await Promise.all(fleet.replicas.map((replica) => untilReady(fleet, replica)));
  });
});

it('every answered denial is counted once, and the audit log is intact', async () => {
  load.isOver = true;
  await Promise.all(clients);
  while ((await countOpen()) > 0) await pause(50);
  const stored = await count(`SELECT count(*) FROM "_Decision" WHERE "kind" = 'access'`);
  const repeated = await count(`SELECT coalesce(sum(("facts"::json ->> 'count')::int), 0) FROM "_Decision" WHERE "kind" = 'repeat'`);
  // A denial that was committed just before a crash has no response.
  expect(stored + repeated).toBeGreaterThanOrEqual(load.answered);
  expect(stored + repeated).toBeLessThanOrEqual(load.sent);
  expect(stored).toBeLessThan(load.answered / 4);
  const verified = await fleet.verify();
  expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('the audit log is intact')]);
});
