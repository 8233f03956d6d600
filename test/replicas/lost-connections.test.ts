/**
 * A replica whose connection to the server is slow, dead or cut at a COMMIT, beside a healthy replica. The tests of one fleet wait for
 * timeouts while those of the other run.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type PostgresProxy, startProxy } from '../postgres/proxy.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { expectDone, idOf, type Program, type Reply, send } from '../process/program.ts';
import { createToggle } from './access-toggles.ts';
import { createAcknowledged, findLosses, untilReady } from './acknowledged-changes.ts';
import { type Call, createNote, type Fleet, startFleet } from './fleet.ts';
import { toggleUnderLoad } from './freshness.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ inMemory: true, settings: ['track_commit_timestamp=on'] });
}, 120_000);
afterAll(() => server?.stop());

/** A fleet whose replica `far` reaches the server through a proxy. */
interface ProxiedFleet {
  readonly fleet: Fleet;
  readonly near: Program;
  readonly far: Program;
  readonly proxy: PostgresProxy;
  readonly policyId: string;
  ask(replica: Program, call: Call, body?: object): Promise<Reply>;
  create(replica: Program): Promise<Reply>;
  read(replica: Program): Promise<Reply>;
  close(): Promise<void>;
}

/** Options with which a replica soon gives up a statement that is not answered. A busy machine can take longer to perform a statement. */
const IMPATIENT = ['--request-timeout-seconds', '5', '--database-statement-seconds', '1'];

/** Starts a fleet of a replica `near` and a replica `far` with these options. */
async function startProxied(args: readonly string[] = []): Promise<ProxiedFleet> {
  const proxy = await startProxy(server.url);
  const replicas = [{}, { server: proxy.url, args: ['--database-connections', '4', ...args] }];
  const fleet = await startFleet({ server: server.url, replicas });
  const ask: ProxiedFleet['ask'] = (replica, call, body) => send(replica.url, call, { token: fleet.admin, body });
  return {
    ...{ fleet, proxy, ask },
    near: fleet.replicas[0] as Program,
    far: fleet.replicas[1] as Program,
    policyId: await fleet.createPolicy(),
    create: (replica) => createNote(replica, fleet.admin),
    read: (replica) => ask(replica, 'GET /api/Note?limit=1'),
    async close() {
      await fleet.close();
      await proxy.close();
    },
  };
}

/** The tests of one fleet run one after the other. */
const IN_TURN = { concurrent: false };

describe.concurrent('a replica with a slow or cut connection', () => {
  let proxied: ProxiedFleet;
  let far: Program;
  let proxy: PostgresProxy;
  let fleet: Fleet;
  beforeAll(async () => {
    proxied = await startProxied();
    ({ far, proxy, fleet } = proxied);
  }, 120_000);
  beforeEach(() => untilReady(fleet, far));
  afterEach(() => proxy.set('open'));
  afterAll(() => proxied?.close());

  it('a slow connection causes no stale allow', IN_TURN, async () => {
    const toggle = await createToggle(fleet, 'an assignment is removed');
    proxy.set({ slow: 10 });
    const found = await toggleUnderLoad(fleet, toggle, { rounds: 3, inFlight: 2 });
    expect(found).toMatchObject({ stale: [], missing: [], disagreeing: [] });
  });

  let priority = 0;
  const ASKED = [
    ['a read', () => proxied.read(far)],
    ['a creation', () => proxied.create(far)],
    ['a change of policies', () => proxied.ask(far, `PUT /admin/api/policies/${proxied.policyId}`, { priority: priority++ })],
  ] as const;
  const CUTS = (['before', 'after'] as const).flatMap((cut) => ASKED.map(([name, asked]) => [name, cut, asked] as const));

  it.each(CUTS)(
    '%s is acknowledged after its commit, with one entry, if the connection is cut %s a COMMIT is performed',
    IN_TURN,
    async (_, cut, asked) => {
      const acknowledged = createAcknowledged();
      for (let round = 0; round < 3; round++) {
        await untilReady(fleet, far);
        const { cuts } = proxy;
        proxy.cut(cut);
        const reply = await expectDone(asked());
        expect(proxy.cuts).toBe(cuts + 1);
        if (reply.decisionId !== null) acknowledged.decisions.add(reply.decisionId);
        if (reply.status === 201) acknowledged.notes.set(idOf(reply), 1);
      }
      expect(await findLosses(fleet, proxied.policyId, acknowledged)).toEqual([]);
    },
  );
});

describe.concurrent('a replica with a dead or lost connection', () => {
  let proxied: ProxiedFleet;
  beforeAll(async () => {
    proxied = await startProxied(IMPATIENT);
  }, 120_000);
  beforeEach(() => untilReady(proxied.fleet, proxied.far));
  afterEach(() => proxied.proxy.set('open'));
  afterAll(() => proxied?.close());

  it('a dead connection is answered 503, other replicas continue, and the replica reconnects without a restart', IN_TURN, async () => {
    const { fleet, near, far, proxy, policyId, ask, create, read } = proxied;
    proxy.set('dead');
    const replies = await Promise.all([read(far), create(far), create(far), create(far), ask(far, 'GET /admin/api/policies')]);
    expect(replies.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
    await expectDone(ask(near, `PUT /admin/api/policies/${policyId}`, { priority: 7 }));
    await expectDone(create(near));
    proxy.set('open');
    await untilReady(fleet, far);
    expect(await findLosses(fleet, policyId, createAcknowledged())).toEqual([]);
  });

  it('connections on which no response arrives are closed', IN_TURN, async () => {
    const { fleet, far, proxy, policyId, read, create } = proxied;
    const acknowledged = createAcknowledged();
    await Promise.all(Array.from({ length: 8 }, () => read(far)));
    proxy.set('lost');
    const replies = await Promise.all(Array.from({ length: 8 }, () => create(far)));
    // The replica may have had fewer connections than it may open; a new one works.
    for (const reply of replies) if (reply.status === 201) acknowledged.notes.set(idOf(reply), 1);
    expect(new Set(replies.map(({ status }) => status).filter((status) => status !== 201))).toEqual(new Set([503]));
    await untilReady(fleet, far);
    expect(await findLosses(fleet, policyId, acknowledged)).toEqual([]);
  });
});
