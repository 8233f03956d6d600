/** Three replicas on one PostgreSQL, any of which may be gone at any moment: what was answered is there, with its entry. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { idOf, type Program } from '../process/program.ts';
import { createAnswered, findLosses, untilAnswered } from './acknowledged-changes.ts';
import { breakOff, crashServer, killReplicas } from './crashes.ts';
import { createNote, type Fleet, startFleet } from './fleet.ts';

/** Few: `test/long/` has 50 of each. */
const LITTLE = { rounds: 2, inFlight: 4 };

let server: PostgresServer;
let fleet: Fleet;
let policyId: string;
beforeAll(async () => {
  server = await startPostgres();
  fleet = await startFleet({ server: server.url, replicas: [{}, {}, {}] });
  policyId = await fleet.createPolicy();
}, 120_000);
afterAll(async () => {
  await fleet?.close();
  await server?.stop();
});

it('a replica that is killed takes nothing along', async () => {
  const answered = await killReplicas(fleet, { policyId, ...LITTLE });
  expect(answered.notes.size).toBeGreaterThan(LITTLE.rounds);
  expect(await findLosses(fleet, policyId, answered)).toEqual([]);
});

it('a server that breaks off what it is asked takes nothing along, and leaves nothing half done', async () => {
  const answered = await breakOff(fleet, { policyId, ...LITTLE });
  await Promise.all(fleet.replicas.map((replica) => untilAnswered(fleet, replica)));
  expect(answered.notes.size).toBeGreaterThan(LITTLE.rounds);
  expect(await findLosses(fleet, policyId, answered)).toEqual([]);
});

it('a server that loses power takes nothing along, and is found again', async () => {
  const answered = await crashServer(fleet, server, { policyId, ...LITTLE });
  expect(answered.notes.size).toBeGreaterThan(LITTLE.rounds);
  expect(await findLosses(fleet, policyId, answered)).toEqual([]);
});

it('an entry that is missing would be found, and one too many', async () => {
  const { replicas, admin, query } = fleet;
  await query(`DELETE FROM "_Decision" WHERE "id" = (
    SELECT entry."id" FROM "_Decision" AS entry JOIN "Note" ON "slug" = "requestId" WHERE entry."action" = 'create' LIMIT 1)`);
  const [answered, replica] = [createAnswered(), replicas[0] as Program];
  answered.decisions.add('never recorded');
  answered.notes.set(idOf(await createNote(replica, admin)), 2);
  const losses = await findLosses(fleet, policyId, answered);
  expect(losses).toEqual(
    expect.arrayContaining(['answered without an entry: never recorded', expect.stringMatching(/^answered as of version 2/)]),
  );
  expect(losses.filter((loss) => /"created":null|"counted"/.test(loss)).length).toBeGreaterThan(1);
});
