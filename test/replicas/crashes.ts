/** Replicas and servers that are killed while they work, over and over. */

import type { PostgresServer } from '../postgres/server.ts';
import { pause } from '../process/program.ts';
import { type Answered, askForChanges, createAnswered, untilAnswered } from './acknowledged-changes.ts';
import type { Fleet } from './fleet.ts';
import { beginLoad } from './load.ts';

/** How often, and under how much. */
export interface Killing {
  readonly policyId: string;
  readonly rounds: number;
  readonly inFlight: number;
}

/** Kills a replica at random and starts another in its place, in each round; gives what was answered. */
export async function killReplicas(fleet: Fleet, killing: Killing): Promise<Answered> {
  return underLoad(fleet, killing, async () => {
    const index = Math.floor(Math.random() * fleet.replicas.length);
    await fleet.replicas[index]?.stop('SIGKILL');
    await fleet.start(index);
  });
}

/** Stops the server as if its machine lost power, in each round; replicas have to find it again by themselves. */
export async function crashServer(fleet: Fleet, server: PostgresServer, killing: Killing): Promise<Answered> {
  return underLoad(fleet, killing, async () => {
    await server.crash();
    await pause(Math.random() * 200);
    await server.start();
    await Promise.all(fleet.replicas.map((replica) => untilAnswered(fleet, replica)));
  });
}

/** Has the server break off what it is doing for somebody at random, and now and then the connection with it, many times in each round. */
export async function breakOff(fleet: Fleet, killing: Killing): Promise<Answered> {
  return underLoad(fleet, killing, async () => {
    for (let times = 0; times < 60; times++) {
      const how = times % 12 === 11 ? 'pg_terminate_backend' : 'pg_cancel_backend';
      const busy = `SELECT pid FROM pg_stat_activity WHERE application_name = 'bailiwick' AND state <> 'idle' ORDER BY random() LIMIT 1`;
      await fleet.query(`SELECT ${how}(pid) FROM (${busy}) AS one`);
    }
  });
}

/** Has something happen in each round while changes are asked for without a pause; gives what was answered. */
export async function underLoad(fleet: Fleet, { policyId, rounds, inFlight }: Killing, strike: () => Promise<void>): Promise<Answered> {
  const answered = createAnswered();
  const load = beginLoad(fleet, askForChanges(fleet, policyId, answered), inFlight);
  for (let round = 0; round < rounds; round++) {
    // By answers and not by time alone: on a busy machine little would be answered before.
    const enough = answered.decisions.size + 2 * inFlight * fleet.replicas.length;
    while (answered.decisions.size < enough) await pause(5);
    await pause(Math.random() * 100);
    await strike();
  }
  await load.stop();
  return answered;
}
