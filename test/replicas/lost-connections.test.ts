/** A replica whose way to the server is slow, dead, or cut where it hurts, beside one that has none of that. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresProxy, startProxy } from '../postgres/proxy.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { expectDone, idOf, type Program, type Reply, send } from '../process/program.ts';
import { createToggle } from './access-toggles.ts';
import { createAnswered, findLosses, untilAnswered } from './acknowledged-changes.ts';
import { type Call, createNote, type Fleet, startFleet } from './fleet.ts';
import { toggleUnderLoad } from './freshness.ts';

let server: PostgresServer;
let proxy: PostgresProxy;
let fleet: Fleet;
let near: Program;
let far: Program;
let policyId: string;
beforeAll(async () => {
  server = await startPostgres({ settings: ['track_commit_timestamp=on'] });
  proxy = await startProxy(server.url);
  const args = ['--request-timeout-seconds', '2', '--database-connections', '4', '--database-statement-seconds', '1'];
  fleet = await startFleet({ server: server.url, replicas: [{}, { server: proxy.url, args }] });
  [near, far] = fleet.replicas as [Program, Program];
  policyId = await fleet.createPolicy();
}, 120_000);
afterEach(() => proxy.set('open'));
afterAll(async () => {
  await fleet?.close();
  await proxy?.close();
  await server?.stop();
});

const ask = (replica: Program, call: Call, body?: object): Promise<Reply> => send(replica.url, call, { token: fleet.admin, body });
const create = (replica: Program): Promise<Reply> => createNote(replica, fleet.admin);
const read = (replica: Program): Promise<Reply> => ask(replica, 'GET /api/Note?limit=1');

it('where the way is slow, nothing that is allowed there rests on what is gone', async () => {
  proxy.set({ slow: 10 });
  const found = await toggleUnderLoad(fleet, await createToggle(fleet, 'an assignment is removed'), { rounds: 3, inFlight: 2 });
  expect(found).toMatchObject({ stale: [], missing: [], disagreeing: [] });
});

it('where the way is dead, the answer is 503, others go on, and it is found again without a restart', async () => {
  await untilAnswered(fleet, far);
  proxy.set('dead');
  const replies = await Promise.all([read(far), create(far), create(far), create(far), ask(far, 'GET /admin/api/policies')]);
  expect(replies.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
  await expectDone(ask(near, `PUT /admin/api/policies/${policyId}`, { priority: 7 }));
  await expectDone(create(near));
  proxy.set('open');
  await untilAnswered(fleet, far);
  expect(await findLosses(fleet, policyId, createAnswered())).toEqual([]);
});

describe.each(['before', 'after'] as const)('where the way is cut %s a COMMIT is done', (how) => {
  let count = 0;
  const ASKED = [
    ['a read', read],
    ['a creation', create],
    ['a change of policies', (replica: Program) => ask(replica, `PUT /admin/api/policies/${policyId}`, { priority: count++ })],
  ] as const;

  it.each(ASKED)('%s is answered once it is done, and recorded once', async (_, asked) => {
    const answered = createAnswered();
    for (let round = 0; round < 3; round++) {
      await untilAnswered(fleet, far);
      const { cuts } = proxy;
      proxy.cut(how);
      const reply = await expectDone(asked(far));
      expect(proxy.cuts).toBe(cuts + 1);
      if (reply.decisionId !== null) answered.decisions.add(reply.decisionId);
      if (reply.status === 201) answered.notes.set(idOf(reply), 1);
    }
    expect(await findLosses(fleet, policyId, answered)).toEqual([]);
  });
});

/** Last: whatever follows would wait for the same connections. */
it('connections on which nothing arrives any more are given up', async () => {
  // All of them are in use, and none is ever answered.
  await Promise.all(Array.from({ length: 8 }, () => read(far)));
  proxy.set('lost');
  const replies = await Promise.all(Array.from({ length: 8 }, () => create(far)));
  expect(replies.filter(({ status }) => status !== 503)).toEqual([]);
  await untilAnswered(fleet, far);
  expect(await findLosses(fleet, policyId, createAnswered())).toEqual([]);
}, 90_000);
