/**
 * Three replicas on one PostgreSQL, one of them an hour ahead and one behind: once a revoke has returned, or an assignment has expired,
 * none of them releases an allow that was made without it.
 */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { createExpiry, createToggle, TOGGLES } from './access-toggles.ts';
import { disableGuard, restoreGuard } from './disable-validation.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { toggleUnderLoad } from './freshness.ts';

/** Little: `test/long/` has thousands. */
const LITTLE = { rounds: 3, inFlight: 2 };
const HOUR = 3_600_000;

const preload = fileURLToPath(new URL('shifted-clock.ts', import.meta.url));
const shifted = (ahead: number) => ({ preload, env: { TEST_CLOCK_AHEAD: String(ahead) } });

let server: PostgresServer;
let fleet: Fleet;
beforeAll(async () => {
  // The server's own word on the order in which it committed.
  server = await startPostgres({ settings: ['track_commit_timestamp=on'] });
  fleet = await startFleet({ server: server.url, replicas: [{}, shifted(HOUR), shifted(-HOUR)] });
}, 120_000);
afterAll(async () => {
  await fleet?.close();
  await server?.stop();
});

describe('nothing is allowed any more once it is answered that', () => {
  it.each(TOGGLES)('%s', async (name) => {
    const found = await toggleUnderLoad(fleet, await createToggle(fleet, name), LITTLE);
    expect(found).toMatchObject({ stale: [], missing: [], disagreeing: [] });
  });
});

describe('whatever the clock of a replica says,', () => {
  it('an assignment ends when the server says so', async () => {
    const found = await toggleUnderLoad(fleet, await createExpiry(fleet), LITTLE);
    expect(found).toMatchObject({ stale: [], missing: [] });
  });

  it('entries have the time of the server', async () => {
    const far = `abs(extract(epoch FROM "at"::timestamptz - pg_xact_commit_timestamp(xmin))) > 1800`;
    expect(await fleet.query(`SELECT "at", "action" FROM "_Decision" WHERE ${far} LIMIT 5`)).toEqual([]);
  });
});

it('without the guard, what is asked here finds answers that rest on what is gone', async () => {
  const guard = await disableGuard(fleet);
  try {
    const toggle = await createToggle(fleet, 'a policy is switched off');
    let disagreeing = 0;
    for (let tries = 0; tries < 10 && disagreeing === 0; tries++)
      disagreeing = (await toggleUnderLoad(fleet, toggle, { rounds: 6, inFlight: 4 })).disagreeing.length;
    expect(disagreeing).toBeGreaterThan(0);
  } finally {
    await restoreGuard(fleet, guard);
  }
});
