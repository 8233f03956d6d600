/** A replica whose connection to the server is slow, dead or cut at a COMMIT, beside a healthy replica. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type PostgresProxy, startProxy } from '../postgres/proxy.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { expectDone, idOf, type Program, type Reply, send } from '../process/program.ts';
import { createToggle } from './access-toggles.ts';
import { createAcknowledged, findLosses, untilReady } from './acknowledged-changes.ts';
import { type Call, createNote, type Fleet, startFleet } from './fleet.ts';
import { toggleUnderLoad } from './freshness.ts';

let server: PostgresServer;
let proxy: PostgresProxy;
let fleet: Fleet;
let near: Program;
let far: Program;
let policyId: string;
beforeAll(async () => {
  server = await startPostgres({ inMemory: true, settings: ['track_commit_timestamp=on'] });
  proxy = await startProxy(server.url);
  const args = ['--request-timeout-seconds', '2', '--database-connections', '4', '--database-statement-seconds', '1'];
  fleet = await startFleet({ server: server.url, replicas: [{}, { server: proxy.url, args }] });
  [near, far] = fleet.replicas as [Program, Program];
  policyId = await fleet.createPolicy();
}, 120_000);
beforeEach(() => untilReady(fleet, far));
afterEach(() => proxy.set('open'));
afterAll(async () => {
  await fleet?.close();
  await proxy?.close();
  await server?.stop();
});

const ask = (replica: Program, call: Call, body?: object): Promise<Reply> => send(replica.url, call, { token: fleet.admin, body });
const create = (replica: Program): Promise<Reply> => createNote(replica, fleet.admin);
const read = (replica: Program): Promise<Reply> => ask(replica, 'GET /api/Note?limit=1');

it('a slow connection causes no stale allow', async () => {
  proxy.set({ slow: 10 });
  const found = await toggleUnderLoad(fleet, await createToggle(fleet, 'an assignment is removed'), { rounds: 3, inFlight: 2 });
  expect(found).toMatchObject({ stale: [], missing: [], disagreeing: [] });
});

it('a dead connection is answered 503, other replicas continue, and the replica reconnects without a restart', async () => {
  await untilReady(fleet, far);
  proxy.set('dead');
  const replies = await Promise.all([read(far), create(far), create(far), create(far), ask(far, 'GET /admin/api/policies')]);
  expect(replies.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
  await expectDone(ask(near, `PUT /admin/api/policies/${policyId}`, { priority: 7 }));
  await expectDone(create(near));
  proxy.set('open');
  await untilReady(fleet, far);
  expect(await findLosses(fleet, policyId, createAcknowledged())).toEqual([]);
});

describe.each(['before', 'after'] as const)('a connection that is cut %s a COMMIT is performed', (how) => {
  let count = 0;
  const ASKED = [
    ['a read', read],
    ['a creation', create],
    ['a change of policies', (replica: Program) => ask(replica, `PUT /admin/api/policies/${policyId}`, { priority: count++ })],
  ] as const;

  it.each(ASKED)(`%s is acknowledged after its commit, with one entry, if the connection is cut ${how} a COMMIT`, async (_, asked) => {
    const acknowledged = createAcknowledged();
    for (let round = 0; round < 3; round++) {
      await untilReady(fleet, far);
      const { cuts } = proxy;
      proxy.cut(how);
      const reply = await expectDone(asked(far));
      expect(proxy.cuts).toBe(cuts + 1);
      if (reply.decisionId !== null) acknowledged.decisions.add(reply.decisionId);
      if (reply.status === 201) acknowledged.notes.set(idOf(reply), 1);
    }
    expect(await findLosses(fleet, policyId, acknowledged)).toEqual([]);
  });
});

it('connections on which no response arrives are closed', async () => {
  // All connections are in use, and no statement is answered.
  await Promise.all(Array.from({ length: 8 }, () => read(far)));
  proxy.set('lost');
  const replies = await Promise.all(Array.from({ length: 8 }, () => create(far)));
  expect(replies.filter(({ status }) => status !== 503)).toEqual([]);
  await untilReady(fleet, far);
  expect(await findLosses(fleet, policyId, createAcknowledged())).toEqual([]);
}, 90_000);
