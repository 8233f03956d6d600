/** The tests of `test/replicas/` with many rounds: thousands of toggles, 50 crashes of each kind, 3,000 cancelled statements, many races. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { createExpiry, createListedExpiry, createMembershipExpiry, createToggle, TOGGLES } from '../replicas/access-toggles.ts';
import { findLosses, untilReady } from '../replicas/acknowledged-changes.ts';
import { crashServer, killReplicas, terminateBackends } from '../replicas/crashes.ts';
import { type Fleet, startFleet } from '../replicas/fleet.ts';
import { toggleUnderLoad } from '../replicas/freshness.ts';
import { createRaces } from '../replicas/races.ts';

/** An hour in milliseconds. */
const HOUR = 3_600_000;
/** Rounds per toggle: four thousand changes in all. */
const TOGGLING = { rounds: 250, inFlight: 8 };
const KILLING = { rounds: 50, inFlight: 8 };
const RACES = 25;

let server: PostgresServer;
let fleet: Fleet;
let policyId: string;
beforeAll(async () => {
  server = await startPostgres({ settings: ['track_commit_timestamp=on'] });
  fleet = await startFleet({ server: server.url, replicas: [{}, {}, {}] });
  policyId = await fleet.createPolicy();
}, 120_000);
afterAll(async () => {
  await fleet?.close();
  await server?.stop();
});

describe('the acknowledgement of a revoke', () => {
  it.each(TOGGLES)(
    'no request is allowed after the acknowledgement that %s',
    async (name) => {
      const found = await toggleUnderLoad(fleet, await createToggle(fleet, name), TOGGLING);
      expect(found).toMatchObject({ stale: [], missing: [], disagreeing: [] });
    },
    HOUR,
  );

  it.each([
    ['an assignment has expired', createExpiry],
    ['the end of a membership has passed', createMembershipExpiry],
    ['the end of the membership of listed records has passed', createListedExpiry],
  ])(
    'no request is allowed after the time at which %s',
    async (_, create) => {
      const found = await toggleUnderLoad(fleet, await create(fleet), TOGGLING);
      expect(found).toMatchObject({ stale: [], missing: [] });
    },
    HOUR,
  );
});

describe('acknowledged changes', () => {
  it(
    'no acknowledged change is lost if a replica is killed',
    async () => {
      const acknowledged = await killReplicas(fleet, { policyId, ...KILLING });
      expect(await findLosses(fleet, policyId, acknowledged)).toEqual([]);
    },
    HOUR,
  );

  it(
    'no change is lost or partial if the server terminates statements and connections',
    async () => {
      const acknowledged = await terminateBackends(fleet, { policyId, ...KILLING });
      await Promise.all(fleet.replicas.map((replica) => untilReady(fleet, replica)));
      expect(await findLosses(fleet, policyId, acknowledged)).toEqual([]);
    },
    HOUR,
  );

  it(
    'no acknowledged change is lost if the server crashes',
    async () => {
      const acknowledged = await crashServer(fleet, server, { policyId, ...KILLING });
      expect(await findLosses(fleet, policyId, acknowledged)).toEqual([]);
    },
    HOUR,
  );
});

it(
  'concurrent requests create each record, assignment and admin once',
  async () => {
    const races = createRaces(server.url);
    expect(await races.start()).toEqual({ histories: 1, setUp: { 201: 1, 409: 11 } });
    expect(await races.run(RACES)).toEqual([]);
    await races.close();
  },
  HOUR,
);
