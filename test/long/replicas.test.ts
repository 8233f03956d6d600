/** What `test/replicas/` asks a little of, asked for long: thousands of toggles, 50 deaths of each kind, many races. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { createExpiry, createToggle, TOGGLES } from '../replicas/access-toggles.ts';
import { findLosses } from '../replicas/acknowledged-changes.ts';
import { crashServer, killReplicas } from '../replicas/crashes.ts';
import { type Fleet, startFleet } from '../replicas/fleet.ts';
import { toggleUnderLoad } from '../replicas/freshness.ts';
import { createRacing } from '../replicas/races.ts';

/** Milliseconds. */
const HOUR = 3_600_000;
/** Of each kind: four thousand changes in all. */
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

describe('nothing is allowed any more once it is answered that', () => {
  it.each(TOGGLES)(
    '%s',
    async (name) => {
      const found = await toggleUnderLoad(fleet, await createToggle(fleet, name), TOGGLING);
      expect(found).toMatchObject({ stale: [], missing: [], disagreeing: [] });
    },
    HOUR,
  );

  it(
    'an assignment has expired',
    async () => {
      const found = await toggleUnderLoad(fleet, await createExpiry(fleet), TOGGLING);
      expect(found).toMatchObject({ stale: [], missing: [] });
    },
    HOUR,
  );
});

describe('nothing is lost', () => {
  it(
    'with a replica',
    async () => {
      const answered = await killReplicas(fleet, { policyId, ...KILLING });
      expect(await findLosses(fleet, policyId, answered)).toEqual([]);
    },
    HOUR,
  );

  it(
    'with a server',
    async () => {
      const answered = await crashServer(fleet, server, { policyId, ...KILLING });
      expect(await findLosses(fleet, policyId, answered)).toEqual([]);
    },
    HOUR,
  );
});

it(
  'what must not happen twice happens once',
  async () => {
    const races = createRacing(server.url);
    expect(await races.start()).toEqual({ histories: 1, setUp: { 201: 1, 409: 11 } });
    expect(await races.run(RACES)).toEqual([]);
    await races.close();
  },
  HOUR,
);
