/** Three replicas on one PostgreSQL: every acknowledged change survives any crash, with its audit entry. */
import { afterAll, beforeAll, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { expectDone, idOf, type Program } from '../process/program.ts';
import { createAcknowledged, findLosses, untilReady } from './acknowledged-changes.ts';
import { crashServer, killReplicas, terminateBackends } from './crashes.ts';
import { createNote, type Fleet, startFleet } from './fleet.ts';

// The tests of this file build on each other.
const it = createChain();

/** Few rounds: `test/long/` has 50 of each. */
const LITTLE = { rounds: 1, inFlight: 4 };

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

it('no acknowledged change is lost if a replica is killed', async () => {
  const acknowledged = await killReplicas(fleet, { policyId, ...LITTLE });
  expect(acknowledged.notes.size).toBeGreaterThan(LITTLE.rounds);
  expect(await findLosses(fleet, policyId, acknowledged)).toEqual([]);
});

it('no change is lost or partial if the server terminates statements and connections', async () => {
  const acknowledged = await terminateBackends(fleet, { policyId, ...LITTLE });
  await Promise.all(fleet.replicas.map((replica) => untilReady(fleet, replica)));
  expect(acknowledged.notes.size).toBeGreaterThan(LITTLE.rounds);
  expect(await findLosses(fleet, policyId, acknowledged)).toEqual([]);
});

it('no acknowledged change is lost if the server crashes, and replicas reconnect', async () => {
  const acknowledged = await crashServer(fleet, server, { policyId, ...LITTLE });
  expect(acknowledged.notes.size).toBeGreaterThan(LITTLE.rounds);
  expect(await findLosses(fleet, policyId, acknowledged)).toEqual([]);
});

it('the test detects a missing entry and an extra acknowledgement', async () => {
  const { replicas, admin, query } = fleet;
  await query(`DELETE FROM "_Decision" WHERE "id" = (
    SELECT entry."id" FROM "_Decision" AS entry JOIN "Note" ON "slug" = "requestId" WHERE entry."action" = 'create' LIMIT 1)`);
  const [acknowledged, replica] = [createAcknowledged(), replicas[0] as Program];
  acknowledged.decisions.add('never recorded');
  await untilReady(fleet, replica);
  acknowledged.notes.set(idOf(await expectDone(createNote(replica, admin))), 2);
  const losses = await findLosses(fleet, policyId, acknowledged);
  expect(losses).toEqual(
    expect.arrayContaining(['acknowledged without an entry: never recorded', expect.stringMatching(/^acknowledged as of version 2/)]),
  );
  expect(losses.filter((loss) => /"created":null|"counted"/.test(loss)).length).toBeGreaterThan(1);
});
