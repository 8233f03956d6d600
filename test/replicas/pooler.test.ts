/**
 * Replicas, one of them with two workers, behind a real PgBouncer in transaction mode with fewer connections than they have.
 * The same guarantees hold as without a pooler.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { casesOf } from '../budget.ts';
import { installed, type Pgbouncer, startPgbouncer } from '../postgres/pgbouncer.ts';
import { type PostgresProxy, startProxy } from '../postgres/proxy.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { expectDone, idOf, type Program, type Reply, send } from '../process/program.ts';
import { createToggle } from './access-toggles.ts';
import { createAcknowledged, findLosses, untilReady } from './acknowledged-changes.ts';
import { killReplicas, underLoad } from './crashes.ts';
import { createNote, type Fleet, NOTE, startFleet } from './fleet.ts';
import { toggleUnderLoad } from './freshness.ts';

const POOL = 3;
const LITTLE = { rounds: casesOf(1), inFlight: 4 };
const ways = [
  ['that knows no prepared statements', 0],
  ...(installed?.knowsNames === true ? [['that keeps track of prepared statements', 50] as const] : []),
] as const;

it.runIf(installed === undefined)('a real pooler is installed', ({ skip }) => skip('no pgbouncer is installed'));

describe.runIf(installed !== undefined).each(ways)('a pooler %s', (way, preparedStatements) => {
  let server: PostgresServer;
  let proxy: PostgresProxy;
  let pooler: Pgbouncer;
  let fleet: Fleet;
  let policyId: string;
  beforeAll(async () => {
    server = await startPostgres({ inMemory: true, settings: ['track_commit_timestamp=on'] });
    // Between pooler and server, to cut connections.
    proxy = await startProxy(server.url);
    pooler = await startPgbouncer(proxy.url, { poolSize: POOL, preparedStatements });
    const how = { server: pooler.url, args: ['--database-connections', '4'] };
    fleet = await startFleet({ server: server.url, replicas: [how, { ...how, args: [...how.args, '--workers', '2'] }] });
    policyId = await fleet.createPolicy();
  }, 120_000);
  afterAll(async () => {
    await fleet?.close();
    await pooler?.stop();
    await proxy?.close();
    await server?.stop();
  });

  it.each(['a policy is switched off', 'a user is demoted'])(
    `no request is allowed behind a pooler ${way} after the acknowledgement that %s`,
    async (name) => {
      const found = await toggleUnderLoad(fleet, await createToggle(fleet, name), { rounds: casesOf(2), inFlight: 2 });
      expect(found).toMatchObject({ stale: [], missing: [], disagreeing: [] });
    },
  );

  it(`replicas use only connections of a pooler ${way}`, async () => {
    const count = async () => (await fleet.query(`SELECT "pid" FROM pg_stat_activity WHERE "application_name" = 'bailiwick'`)).length;
    // The server process of a cut connection lives a moment longer.
    await expect.poll(count).toBeLessThanOrEqual(POOL);
  });

  it(`no acknowledged change is lost behind a pooler ${way} if replicas are killed`, async () => {
    const acknowledged = await killReplicas(fleet, { policyId, ...LITTLE });
    expect(await findLosses(fleet, policyId, acknowledged)).toEqual([]);
  });

  it(`no acknowledged change is lost if a pooler ${way} is killed, and replicas reconnect`, async () => {
    const acknowledged = await underLoad(fleet, { policyId, ...LITTLE }, async () => {
      await pooler.restart();
      await Promise.all(fleet.replicas.map((replica) => untilReady(fleet, replica)));
    });
    expect(await findLosses(fleet, policyId, acknowledged)).toEqual([]);
  });

  it.each(['before', 'after'] as const)(
    `the outcome is found behind a pooler ${way} if the server is lost %s a COMMIT is performed`,
    async (how) => {
      const acknowledged = createAcknowledged();
      for (const ask of [createNote, list, createNote, list]) {
        for (const replica of fleet.replicas) await untilReady(fleet, replica);
        const { cuts } = proxy;
        proxy.cut(how);
        const reply = await expectDone(ask(fleet.any(), fleet.admin));
        expect(proxy.cuts).toBe(cuts + 1);
        if (reply.decisionId !== null) acknowledged.decisions.add(reply.decisionId);
        if (reply.status === 201) acknowledged.notes.set(idOf(reply), 1);
      }
      expect(await findLosses(fleet, policyId, acknowledged)).toEqual([]);
    },
  );

  it(`tables migrate behind a pooler ${way} while replicas answer requests`, async () => {
    const acknowledged = await underLoad(fleet, { policyId, rounds: 1, inFlight: 4 }, async () => {
      fleet.define(`${NOTE}  more: { type: integer, default: 7 }\n`);
      expect(await fleet.run(['storage', 'apply'], pooler.url)).toMatchObject({ code: 0 });
    });
    expect(await findLosses(fleet, policyId, acknowledged)).toEqual([]);
    const made = await Promise.all(fleet.replicas.map((replica) => expectDone(createNote(replica, fleet.admin))));
    expect(made.map(({ body }) => (body.data as { readonly more?: unknown }).more)).toEqual([7, 7]);
  });
});

function list({ url }: Program, token: string): Promise<Reply> {
  return send(url, 'GET /api/Note?limit=1', { token });
}
