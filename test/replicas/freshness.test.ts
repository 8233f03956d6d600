/**
 * Three replicas on one PostgreSQL, with clocks that differ by an hour: after a revoke has returned or an assignment has
 * expired, none of them returns an allow that depends on the revoked access.
 */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { createExpiry, createListedExpiry, createMembershipExpiry, createToggle, TOGGLES } from './access-toggles.ts';
import { disableCommitValidation, restoreCommitValidation } from './disable-validation.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { toggleUnderLoad } from './freshness.ts';

/** Few rounds: `test/long/` has thousands. */
const LITTLE = { rounds: 2, inFlight: 2 };
const HOUR = 3_600_000;

const preload = fileURLToPath(new URL('shifted-clock.ts', import.meta.url));
const shifted = (ahead: number) => ({ preload, env: { TEST_CLOCK_AHEAD: String(ahead) } });

let server: PostgresServer;
let fleet: Fleet;
beforeAll(async () => {
  // Gives the commit order of the server.
  server = await startPostgres({ inMemory: true, settings: ['track_commit_timestamp=on'] });
  fleet = await startFleet({ server: server.url, replicas: [{}, shifted(HOUR), shifted(-HOUR)] });
}, 120_000);
afterAll(async () => {
  await fleet?.close();
  await server?.stop();
});

describe('the acknowledgement of a revoke', () => {
  it.each(TOGGLES)('no request is allowed after the acknowledgement that %s', async (name) => {
    const found = await toggleUnderLoad(fleet, await createToggle(fleet, name), LITTLE);
    expect(found).toMatchObject({ stale: [], missing: [], disagreeing: [] });
  });
});

describe('the clock of a replica', () => {
  it('an assignment expires by the clock of the server, with any clock of a replica', async () => {
    const found = await toggleUnderLoad(fleet, await createExpiry(fleet), LITTLE);
    expect(found).toMatchObject({ stale: [], missing: [] });
  });

  it.each([
    ['a membership', createMembershipExpiry],
    ['the membership of listed records', createListedExpiry],
  ])('%s that a condition compares with the time expires by the clock of the server, with any clock of a replica', async (_, create) => {
    const found = await toggleUnderLoad(fleet, await create(fleet), LITTLE);
    expect(found).toMatchObject({ stale: [], missing: [] });
  });

  it('audit entries have the time of the server, with any clock of a replica', async () => {
    const far = `abs(extract(epoch FROM "at"::timestamptz - pg_xact_commit_timestamp(xmin))) > 1800`;
    expect(await fleet.query(`SELECT "at", "action" FROM "_Decision" WHERE ${far} LIMIT 5`)).toEqual([]);
  });
});

it('the test detects stale allows if commit validation is disabled', async () => {
  const guard = await disableCommitValidation(fleet);
  try {
    const toggle = await createToggle(fleet, 'a policy is switched off');
    let disagreeing = 0;
    for (let tries = 0; tries < 10 && disagreeing === 0; tries++)
      disagreeing = (await toggleUnderLoad(fleet, toggle, { rounds: 6, inFlight: 4 })).disagreeing.length;
    expect(disagreeing).toBeGreaterThan(0);
  } finally {
    await restoreCommitValidation(fleet, guard);
  }
});
