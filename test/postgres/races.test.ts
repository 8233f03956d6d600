/** Four replicas on one PostgreSQL receive concurrent requests: what must be unique happens once, as on one machine. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import type { Reply, TestUser } from '../harness.ts';
import { atOnce, counted, type Replicas, startReplicas } from './replicas.ts';

// The tests of this file build on each other.
const it = createChain();

const definitions = {
  'Team.yaml': 'name: Team\nfields:\n  title: { type: string }\n',
  'Note.yaml': `name: Note
fields:
  title: { type: string }
  slug: { type: string, unique: true }
  count: { type: integer, default: 0 }
  teamId: { type: reference, to: Team, onDelete: restrict }
  teamIds: { type: list, of: { type: reference, to: Team } }
`,
};
let replicas: Replicas;
let admin: TestUser;

beforeAll(async () => {
  replicas = await startReplicas(definitions);
});
afterAll(() => replicas.close());

function ask(method: string, path: string, body?: unknown): Promise<Reply> {
  return replicas.next().call(method, path, { token: admin.token, body });
}

describe('concurrent requests', () => {
  it('one of many concurrent setups creates the first admin', async () => {
    const body = (index: number) => ({ email: `admin${index}@example.com`, password: 'correct horse battery', name: 'Admin' });
    const replies = await atOnce(20, (index) => replicas.next().call('POST', '/auth/setup', { body: body(index) }));
    expect(counted(replies)).toEqual({ 201: 1, 409: 19 });
    const winner = replies.findIndex(({ status }) => status === 201);
    const token = await replicas.next().logIn(`admin${winner}@example.com`, 'correct horse battery');
    admin = { id: String(replies[winner]?.at('user.id')), email: `admin${winner}@example.com`, password: 'correct horse battery', token };
  });

  it('one of many concurrent createIfNotExists creates the record', async () => {
    const replies = await atOnce(50, () =>
      ask('POST', '/api/Note/createIfNotExists', { filter: { title: 'one' }, data: { title: 'one' } }),
    );
    expect(counted(replies)).toEqual({ 201: 1, 200: 49 });
    expect((await ask('GET', '/api/Note?where[title]=one')).at('count')).toBe(1);
  });

  it('one of many concurrent creates takes a unique value', async () => {
    const replies = await atOnce(20, () => ask('POST', '/api/Note', { slug: 'taken' }));
    expect(counted(replies)).toEqual({ 201: 1, 409: 19 });
    expect(replies.find(({ status }) => status === 409)?.at('errors.0.path')).toBe('slug');
  });

  it('one of many concurrent requests assigns a policy', async () => {
    const rules = [{ resource: 'Note', action: 'read', effect: 'ALLOW' }];
    const policy = (await ask('POST', '/admin/api/policies', { name: 'p', type: 'CUSTOM', rules })).at('data.id');
    expect(counted(await atOnce(20, () => ask('POST', `/admin/api/policies/${policy}/assign/role/user`, {})))).toEqual({ 201: 1, 409: 19 });
    expect(counted(await atOnce(20, () => ask('POST', '/admin/api/policies', { name: 'q', type: 'CUSTOM', rules })))).toEqual({
      201: 1,
      409: 19,
    });
  });

  it('concurrent updates and updateIfExists are all performed, one after another', async () => {
    const id = String((await ask('POST', '/api/Note', { title: 'updated' })).at('data.id'));
    expect(counted(await atOnce(20, (index) => ask('PUT', `/api/Note/${id}`, { count: index })))).toEqual({ 200: 20 });
    const change = { filter: { title: 'updated' }, data: { count: 1 } };
    expect(counted(await atOnce(20, () => ask('POST', '/api/Note/updateIfExists', change)))).toEqual({ 200: 20 });
    expect((await ask('GET', `/api/Note/${id}`)).at('data.version')).toBe(41);
  });

  it('every concurrent increment counts', async () => {
    const id = String((await ask('POST', '/api/Note', { title: 'incremented' })).at('data.id'));
    const byFilter = { filter: { title: 'incremented', count: { gte: 0 } }, data: { count: { increment: 1 } } };
    const replies = await atOnce(40, (index) =>
      index % 2 === 0
        ? ask('PUT', `/api/Note/${id}`, { count: { increment: 1 } })
        : ask('POST', '/api/batch', { atomic: true, requests: [{ resource: 'Note', action: 'updateIfExists', data: byFilter }] }),
    );
    expect(counted(replies)).toEqual({ 200: 40 });
    expect((await ask('GET', `/api/Note/${id}`)).at('data')).toMatchObject({ count: 40, version: 41 });
  });

  it('all of many concurrent atomic batches that change records in opposite orders succeed', async () => {
    const ids = await Promise.all(
      ['first', 'second'].map(async (title) => String((await ask('POST', '/api/Note', { title })).at('data.id'))),
    );
    const increment = (id: string) => ({ resource: 'Note', action: 'update', data: { id, count: { increment: 1 } } });
    const replies = await atOnce(40, (index) => {
      const requests = (index % 2 === 0 ? ids : ids.toReversed()).map(increment);
      return ask('POST', '/api/batch', { atomic: true, requests });
    });
    expect(counted(replies)).toEqual({ 200: 40 });
    for (const id of ids) expect((await ask('GET', `/api/Note/${id}`)).at('data')).toMatchObject({ count: 40, version: 41 });
  });

  it('one of many concurrent updates with the same version succeeds', async () => {
    const id = String((await ask('POST', '/api/Note', {})).at('data.id'));
    const replies = await atOnce(10, (index) =>
      replicas.next().call('PUT', `/api/Note/${id}`, { token: admin.token, body: { count: index }, headers: { 'if-match': '"1"' } }),
    );
    expect(counted(replies)).toEqual({ 200: 1, 412: 9 });
  });

  it('one concurrent update with the same version of a policy or assignment succeeds, and no rule is lost', async () => {
    const rule = { resource: 'Note', action: 'read', effect: 'ALLOW' };
    const made = await ask('POST', '/admin/api/policies', { name: 'edited', type: 'CUSTOM', rules: [rule] });
    const path = `/admin/api/policies/${made.at('data.id')}`;
    const assigned = await ask('POST', `${path}/assign/role/viewer`, {});
    const put = (to: string, etag: unknown) => (index: number) =>
      replicas.next().call('PUT', to, {
        token: admin.token,
        body: to === path ? { rules: [rule, { ...rule, effect: 'DENY', priority: index }] } : { priority: index },
        headers: { 'if-match': String(etag) },
      });
    for (const [to, { headers }] of [[path, made] as const, [`${path}/assign/role/viewer`, assigned] as const]) {
      const replies = await atOnce(10, put(to, headers.etag));
      expect(counted(replies)).toEqual({ 200: 1, 412: 9 });
      const won = replies.find(({ status }) => status === 200);
      expect((await ask('GET', to)).at('data')).toEqual(won?.at('data'));
    }
  });

  it('concurrent changes of different members of a policy all succeed', async () => {
    const rules = [{ resource: 'Note', action: 'read', effect: 'ALLOW' }];
    const path = `/admin/api/policies/${(await ask('POST', '/admin/api/policies', { name: 'members', type: 'CUSTOM', rules })).at('data.id')}`;
    for (let round = 1; round <= 10; round++) {
      const changes = [{ priority: round }, { description: `round ${round}` }, { tags: [`round${round}`] }, { isActive: round % 2 === 0 }];
      expect(counted(await Promise.all(changes.map((change) => ask('PUT', path, change))))).toEqual({ 200: 4 });
      expect((await ask('GET', path)).at('data')).toMatchObject(Object.assign({}, ...changes));
    }
  });

  it('one of many concurrent deletions deletes the record, and the others get 404', async () => {
    const id = String((await ask('POST', '/api/Note', {})).at('data.id'));
    expect(counted(await atOnce(10, () => ask('DELETE', `/api/Note/${id}`)))).toEqual({ 200: 1, 404: 9 });
  });
});

describe('requests that conflict', () => {
  it('two conflicting requests leave an active admin', async () => {
    for (let round = 0; round < 10; round++) {
      const made = await makeAdmin(round);
      const ways = [
        () => replicas.next().call('PUT', `/api/User/${made.id}`, { token: admin.token, body: { role: 'user' } }),
        () => replicas.next().call('PUT', `/api/User/${admin.id}`, { token: made.token, body: { isActive: false } }),
      ];
      await Promise.all(ways.map((way) => way()));
      const left = await admins();
      expect(left.length).toBeGreaterThan(0);
      if (!left.includes(admin.id)) admin = made;
    }
  });

  it('two conflicting requests leave no reference to a missing record', async () => {
    for (let round = 0; round < 10; round++) {
      const teamId = String((await ask('POST', '/api/Team', { title: 'team' })).at('data.id'));
      const [deleted, ...referring] = await Promise.all([
        ask('DELETE', `/api/Team/${teamId}`),
        ask('POST', '/api/Note', { teamId }),
        ask('POST', '/api/Note', { teamIds: [teamId] }),
      ]);
      // Either the reference is first and the deletion is refused, or the deletion is first and the reference is refused.
      if (deleted.status === 200) expect(counted(referring)).toEqual({ 422: 2 });
      else expect([deleted.status, referring.some(({ status }) => status === 201)]).toEqual([409, true]);
    }
  });

  it('two conflicting requests leave no assignment to a missing user', async () => {
    const rules = [{ resource: 'Note', action: 'read', effect: 'ALLOW' }];
    const policy = (await ask('POST', '/admin/api/policies', { name: 'not assigned', type: 'CUSTOM', rules })).at('data.id');
    for (let round = 0; round < 10; round++) {
      const id = await makeUser(`nobody${round}@example.com`);
      await Promise.all([ask('DELETE', `/api/User/${id}`), ask('POST', `/admin/api/policies/${policy}/assign/user/${id}`, {})]);
      const rows = await replicas.stored(`SELECT 1 FROM "_UserPolicy" WHERE "userId" = '${id}'`);
      expect(rows).toEqual([]);
    }
  });

  it('conflicting requests leave no assignment of a missing policy', async () => {
    const rules = [{ resource: 'Note', action: 'read', effect: 'ALLOW' }];
    const statuses = new Set<number>();
    for (let round = 0; round < 10; round++) {
      const id = (await ask('POST', '/admin/api/policies', { name: `gone ${round}`, type: 'CUSTOM', rules })).at('data.id');
      const replies = await Promise.all([
        ask('DELETE', `/admin/api/policies/${id}`),
        ...['user', 'editor', 'viewer'].map((role) => ask('POST', `/admin/api/policies/${id}/assign/role/${role}`, {})),
        ask('PUT', `/admin/api/policies/${id}`, { priority: 5 }),
      ]);
      for (const { status } of replies) statuses.add(status);
      expect(await replicas.stored(`SELECT 1 FROM "_RolePolicy" WHERE "policyId" = '${id}'`)).toEqual([]);
      expect(
        await replicas.stored(`SELECT 1 FROM "_PolicyHistory" WHERE "subjectId" = '${id}' AND "toEpoch" IS NULL AND "value" IS NOT NULL`),
      ).toEqual([]);
    }
    expect([...statuses].filter((status) => ![200, 201, 404].includes(status))).toEqual([]);
  });

  it('conflicting requests leave no session from before a password change', async () => {
    for (let round = 0; round < 5; round++) {
      const email = `session${round}@example.com`;
      const id = await makeUser(email);
      const [changed] = await Promise.all([
        ask('PUT', `/api/User/${id}`, { password: 'another horse battery' }),
        ...[1, 2, 3].map(() => replicas.next().call('POST', '/auth/login', { body: { email, password: 'correct horse battery' } })),
      ]);
      expect(changed?.status).toBe(200);
      expect(await replicas.stored(`SELECT 1 FROM "_Session" WHERE "userId" = '${id}' AND "revokedAt" IS NULL`)).toEqual([]);
    }
  });
});

describe('the audit log after concurrent requests', () => {
  it('every response has its entry, and every entry has one number', async () => {
    const [entries] = await replicas.stored(`SELECT count(*) AS "count" FROM "_Decision" WHERE "kind" = 'access'`);
    const [hours] = await replicas.stored(`SELECT sum("grants" + "denials") AS "count" FROM "_DecisionHour"`);
    expect(hours).toEqual(entries);
  });
});

async function makeUser(email: string, role = 'user'): Promise<string> {
  const reply = await ask('POST', '/api/User', { email, name: email, password: 'correct horse battery', role });
  if (reply.status !== 201) throw new Error(reply.text);
  return String(reply.at('data.id'));
}

async function makeAdmin(round: number): Promise<TestUser> {
  const email = `admin-of-round-${round}@example.com`;
  const id = await makeUser(email, 'admin');
  return { id, email, password: 'correct horse battery', token: await replicas.next().logIn(email, 'correct horse battery') };
}

async function admins(): Promise<readonly unknown[]> {
  return (await replicas.stored(`SELECT "id" FROM "User" WHERE "role" = 'admin' AND "isActive"`)).map(({ id }) => id);
}
