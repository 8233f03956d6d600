/** Kills replicas and servers under load, repeatedly. */

import type { PostgresServer } from '../postgres/server.ts';
import { pause } from '../process/program.ts';
import { type Acknowledged, createAcknowledged, sendChanges, untilReady } from './acknowledged-changes.ts';
import type { Fleet } from './fleet.ts';
import { beginLoad } from './load.ts';

/** Number of rounds and requests in flight. */
export interface CrashOptions {
  readonly policyId: string;
  readonly rounds: number;
  readonly inFlight: number;
}

/** Kills a random replica and starts a replacement in each round; returns the acknowledged changes. */
export async function killReplicas(fleet: Fleet, options: CrashOptions): Promise<Acknowledged> {
  return underLoad(fleet, options, async () => {
    const index = Math.floor(Math.random() * fleet.replicas.length);
    await fleet.replicas[index]?.stop('SIGKILL');
    await fleet.start(index);
  });
}

/** Crashes the server as by a power loss in each round; replicas must reconnect by themselves. */
export async function crashServer(fleet: Fleet, server: PostgresServer, options: CrashOptions): Promise<Acknowledged> {
  return underLoad(fleet, options, async () => {
    await server.crash();
    await pause(Math.random() * 200);
    await server.start();
    await Promise.all(fleet.replicas.map((replica) => untilReady(fleet, replica)));
  });
}

/** Cancels the statement of a random backend many times in each round, and sometimes terminates the backend. */
export async function terminateBackends(fleet: Fleet, options: CrashOptions): Promise<Acknowledged> {
  return underLoad(fleet, options, async () => {
    for (let times = 0; times < 60; times++) {
      const how = times % 12 === 11 ? 'pg_terminate_backend' : 'pg_cancel_backend';
      const busy = `SELECT pid FROM pg_stat_activity WHERE application_name = 'bailiwick' AND state <> 'idle' ORDER BY random() LIMIT 1`;
      await fleet.query(`SELECT ${how}(pid) FROM (${busy}) AS one`);
    }
  });
}

/** Short enough that requests are in flight at each replica most of the time. */
const PAUSE_MS = 5;

/** Calls `strike` in each round while changes are sent continuously; returns the acknowledged changes. */
export async function underLoad(
  fleet: Fleet,
  { policyId, rounds, inFlight }: CrashOptions,
  strike: () => Promise<void>,
): Promise<Acknowledged> {
  const acknowledged = createAcknowledged();
  const load = beginLoad(fleet, sendChanges(fleet, policyId, acknowledged), { inFlight, pauseMs: PAUSE_MS });
  for (let round = 0; round < rounds; round++) {
    // Waits for responses, not only for time: a busy machine would acknowledge little before.
    const enough = acknowledged.decisions.size + 2 * inFlight * fleet.replicas.length;
    while (acknowledged.decisions.size < enough) await pause(5);
    await pause(Math.random() * 100);
    await strike();
  }
  await load.stop();
  return acknowledged;
}
