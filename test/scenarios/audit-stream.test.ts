/** Streams of the audit log: their entries, positions, readers and ends. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type EventStream, openEventStream, type ReceivedEvent } from '../event-stream.ts';
import { withExpiringToken } from '../expiring-token.ts';
import { type RunningService, startService, type TestUser } from '../harness.ts';

const DEFINITIONS = {
  'Note.yaml': 'name: Note\nfields:\n  text: { type: text }\n',
  'Memo.yaml': 'name: Memo\nfields:\n  text: { type: text }\n',
};

const SECRET = 'a secret of this test alone, with enough characters';

let service: RunningService;
let admin: TestUser;
let reader: TestUser;
const streams: EventStream[] = [];
beforeAll(async () => {
  service = await startService({ definitions: DEFINITIONS, settings: { jwtSecret: SECRET } });
  admin = await service.admin();
  reader = await service.user();
  const conditions = [{ field: 'user.email', operator: 'exists', value: true }];
  await service.createPolicy({ userId: reader.id, rules: [{ resource: '*', action: '*', conditions }] });
});
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});
afterAll(() => service.close());

async function open(query = '', { token = admin.token, after }: { token?: string; after?: string } = {}): Promise<EventStream> {
  const headers = { authorization: `Bearer ${token}`, ...(after !== undefined && { 'last-event-id': after }) };
  const stream = await openEventStream(`${service.url}/admin/api/decisions/stream?${query}`, headers);
  streams.push(stream);
  return stream;
}

/** Waits until a stream has a position, from which on it has every entry. */
async function begun(stream: EventStream): Promise<EventStream> {
  while (stream.lastId() === undefined) await new Promise((done) => stream.response.once('data', done));
  return stream;
}

/** Lists a resource as the reader; returns the id of the entry. */
const list = async (resource: string): Promise<string> =>
  String((await service.call('GET', `/api/${resource}`, { token: reader.token })).headers['x-decision-id']);
const idsOf = (stream: EventStream): readonly unknown[] =>
  stream.events.filter(({ name }) => name === 'entry').map(({ data }) => data['id']);
const isEntry =
  (id: string) =>
  ({ data }: ReceivedEvent): boolean =>
    data['id'] === id;
const isEnd = ({ name }: ReceivedEvent): boolean => name === 'end';

describe('a stream of the audit log', () => {
  it('sends each entry once, as a search shows it', async () => {
    const stream = await begun(await open('resource=Note'));
    const ids: string[] = [];
    for (let index = 0; index < 30; index++) ids.push(await list('Note'));
    await list('Memo');
    await stream.find(isEntry(ids.at(-1) ?? ''));
    expect(idsOf(stream)).toEqual(ids);
    const [found] = await service.decisions(`resource=Note&limit=1`);
    expect(stream.events.at(-1)?.data).toEqual(found);
    expect(stream.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
  });

  it('resumes after any of its events without a loss or a repetition', async () => {
    const first = await begun(await open('resource=Note'));
    const ids = [await list('Note'), await list('Note'), await list('Note')];
    await first.find(isEntry(ids[2] ?? ''));
    first.close();
    ids.push(await list('Note'));
    for (const [index, { id }] of first.events.entries()) {
      const resumed = await open('resource=Note', { after: id ?? '' });
      await resumed.find(isEntry(ids[3] ?? ''));
      expect(idsOf(resumed)).toEqual(ids.slice(index + 1));
    }
    const byQuery = await open(`resource=Note&seconds=0&after=${first.events[0]?.id}`);
    await byQuery.find(isEnd);
    expect(idsOf(byQuery)).toEqual(ids.slice(1));
  });

  it('appends one entry with the question, without the position', async () => {
    const stream = await begun(await open('resource=Note'));
    await (await open(`resource=Note&seconds=0&after=${stream.lastId()}`)).ended;
    const [entry] = await service.decisions('action=decisions.stream&limit=1');
    expect(entry).toMatchObject({ kind: 'admin', userId: admin.id, facts: { question: { resource: 'Note', seconds: 0 } } });
    expect(JSON.stringify(entry)).not.toContain('after');
  });

  it('ends after the given time', async () => {
    const stream = await open('seconds=0');
    expect((await stream.find(isEnd)).data).toEqual({ reason: 'duration' });
    await stream.ended;
  });

  it.each(['x', '.', 'zzzzzzzz', 'mi000000.short', `mi000000.${'a'.repeat(14_000)}`])(
    'refuses the malformed position %#',
    async (after) => {
      const reply = await service.call('GET', `/admin/api/decisions/stream?after=${after}`, { token: admin.token });
      expect(reply.status).toBe(400);
    },
  );

  it('sends no body to HEAD, and opens no stream', async () => {
    const user = await service.user({ role: 'admin' });
    // More than a user may open.
    for (let index = 0; index < 12; index++) {
      const reply = await service.call('HEAD', '/admin/api/decisions/stream', { token: user.token });
      expect([reply.status, reply.text]).toEqual([200, '']);
    }
  });

  it('refuses the eleventh stream of a user, and allows another after one was closed', async () => {
    const user = await service.user({ role: 'admin' });
    const opened = await Promise.all(Array.from({ length: 10 }, () => open('', { token: user.token }).then(begun)));
    const refused = await service.call('GET', '/admin/api/decisions/stream', { token: user.token });
    expect([refused.status, refused.at('code'), refused.headers['retry-after']]).toEqual([429, 'REQUEST_RATE', '5']);
    opened[0]?.close();
    for (let status = 429; status !== 200; ) status = (await open('seconds=0', { token: user.token })).status;
  });
});

describe('many writers', () => {
  it('no entry is lost or repeated over several connections', async () => {
    const received: unknown[] = [];
    let stream = await begun(await open('resource=Note'));
    let after = '';
    const ids: string[] = [];
    for (let round = 0; round < 6; round++) {
      const requests = Array.from({ length: 40 }, () => list('Note'));
      await Promise.race(requests);
      // Disconnects while requests are running.
      received.push(...idsOf(stream));
      after = stream.lastId() ?? after;
      stream.close();
      stream = await open('resource=Note', { after });
      ids.push(...(await Promise.all(requests)));
    }
    for (const id of ids) if (!received.includes(id)) await stream.find(isEntry(id));
    received.push(...idsOf(stream));
    expect(received.toSorted()).toEqual(ids.toSorted());
  });
});

describe('the reader of a stream', () => {
  it('receives the end of the stream when the token expires, after the refused token has an entry', async () => {
    const user = await service.user({ role: 'admin' });
    const stream = await withExpiringToken({ token: user.token, secret: SECRET }, async ({ token }) => {
      const opened = await open('', { token });
      return opened.status === 200 ? opened : undefined;
    });
    expect((await stream.find(isEnd)).data).toEqual({ reason: 'expired', detail: 'the token has expired' });
    const refused = await service.decisions(`kind=auth&action=token&userId=${user.id}`);
    expect(refused).toMatchObject([{ allowed: false, reason: 'the token has expired', outcome: 'IDENTITY_TOKEN_EXPIRED' }]);
    await stream.ended;
  });

  it('sees only the entries that a rule on _Decision allows, without the values that conditions read', async () => {
    const auditor = await service.user();
    const conditions = [{ field: 'resource.resource', operator: 'eq', value: 'Note' }];
    await service.createPolicy({ userId: auditor.id, rules: [{ resource: '_Decision', action: 'read', conditions }] });
    const stream = await begun(await open('', { token: auditor.token }));
    const ids = [await list('Note'), await list('Memo'), await list('Note')];
    await stream.find(isEntry(ids[2] ?? ''));
    expect(idsOf(stream)).toEqual([ids[0], ids[2]]);
    for (const { data } of stream.events) expect(data).not.toHaveProperty('facts');
  });

  it('needs a right', async () => {
    const reply = await service.call('GET', '/admin/api/decisions/stream', { token: reader.token });
    expect([reply.status, reply.at('code')]).toEqual([403, 'ACCESS_ADMIN']);
  });

  it('receives nothing that is committed after the right was revoked', async () => {
    const auditor = await service.user();
    const policy = await service.createPolicy({ userId: auditor.id, rules: [{ resource: '_Decision', action: 'read' }] });
    const stream = await begun(await open('resource=Note', { token: auditor.token }));
    const before = await list('Note');
    await stream.find(isEntry(before));
    await service.call('DELETE', `/admin/api/policies/${policy}/assign/user/${auditor.id}`, { token: admin.token });
    await list('Note');
    expect((await stream.find(isEnd)).data).toMatchObject({ reason: 'revoked' });
    await stream.ended;
    expect(idsOf(stream)).toEqual([before]);
    const denied = await service.decisions(`userId=${auditor.id}&allowed=false`);
    expect(denied).toHaveLength(1);
  });

  it.each([
    ['is deactivated', (user: TestUser) => service.call('PUT', `/api/User/${user.id}`, { token: admin.token, body: { isActive: false } })],
    ['loses the sessions', (user: TestUser) => service.call('DELETE', `/admin/api/users/${user.id}/sessions`, { token: admin.token })],
  ])('receives the end of the stream when the user %s', async (_, act) => {
    const user = await service.user({ role: 'admin' });
    const stream = await begun(await open('resource=Note', { token: user.token }));
    expect((await act(user)).status).toBeLessThan(300);
    await list('Note');
    expect((await stream.find(isEnd)).data).toMatchObject({ reason: 'signedOut' });
    const refused = await service.decisions(`kind=auth&action=token&userId=${user.id}`);
    expect(refused).toMatchObject([{ allowed: false, outcome: 'IDENTITY_TOKEN' }]);
    await stream.ended;
    expect(idsOf(stream)).toEqual([]);
  });
});

describe('a shutdown', () => {
  it('ends the streams', async () => {
    const stopped = await startService({ definitions: DEFINITIONS });
    const { token } = await stopped.admin();
    const stream = await openEventStream(`${stopped.url}/admin/api/decisions/stream`, { authorization: `Bearer ${token}` });
    await begun(stream);
    await stopped.close();
    expect((await stream.find(isEnd)).data).toMatchObject({ reason: 'shutdown' });
    await stream.ended;
  });
});
