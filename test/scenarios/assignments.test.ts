/** Lists and batch changes of assignments, through HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, startService } from '../harness.ts';

let service: RunningService;
let token: string;
beforeAll(async () => {
  service = await startService({ definitions: { 'Note.yaml': 'name: Note\nfields:\n  title: { type: string }\n' } });
  token = (await service.admin()).token;
});
afterAll(() => service.close());

const ask = (method: string, path: string, body?: unknown): Promise<Reply> =>
  service.call(method, `/admin/api${path}`, { token, ...(body !== undefined && { body }) });

/** Sends a request that must succeed. */
async function done(method: string, path: string, body?: unknown): Promise<Reply> {
  const reply = await ask(method, path, body);
  expect(reply.status, `${method} ${path}: ${reply.text}`).toBeLessThan(300);
  return reply;
}

const createPolicy = (): Promise<string> => service.createPolicy({ rules: [{ resource: 'Note', action: 'read' }] });
const createUser = async (): Promise<string> => (await service.user({})).id;

describe('the lists of assignments', () => {
  it('show each assignment once, in the order of expiry, with names, and leave an audit entry', async () => {
    const [policy, first, second] = [await createPolicy(), await createUser(), await createUser()];
    await done('POST', `/policies/${policy}/assign/user/${first}`, { expiresAt: '2041-01-02T00:00:00Z' });
    await done('POST', `/policies/${policy}/assign/user/${second}`, { expiresAt: '2041-01-01T00:00:00Z' });
    await done('POST', `/policies/${policy}/assign/role/viewer`, {});
    const listed = await done('GET', `/policies/${policy}/assignments?names=true`);
    expect(listed.at('data')).toMatchObject([
      { kind: 'user', userId: first },
      { kind: 'user', userId: second },
      { kind: 'role', role: 'viewer', priority: 100 },
    ]);
    expect(listed.at('names')).toMatchObject({ users: { [first]: expect.any(String) }, policies: { [policy]: expect.any(String) } });
    const page = await done('GET', '/assignments?expiresBefore=2041-02-01&expiresAfter=2041-01-01&limit=1');
    expect(page.at('data')).toMatchObject([{ userId: second }]);
    const rest = await done('GET', `/assignments?expiresBefore=2041-02-01&expiresAfter=2041-01-01&cursor=${page.at('nextCursor')}`);
    expect([rest.at('count'), rest.at('data.0.userId'), rest.at('nextCursor')]).toEqual([1, first, undefined]);
    const [entry] = await service.decisions('kind=admin&action=assignments.list&limit=1');
    expect(entry).toMatchObject({ resource: 'Admin', allowed: true, facts: { question: { expiresBefore: '2041-02-01' } } });
  });
});

describe('the list of users', () => {
  it('finds users by a part of their name or email in any case, each once over its pages, and leaves an audit entry', async () => {
    const users = [await service.user({ name: 'Żaneta Ärzt' }), await service.user({ name: 'ÄRZTIN' }), await service.user({ name: 'Bo' })];
    const policy = await createPolicy();
    await done('POST', `/policies/${policy}/assign/user/${users[1]?.id}`, {});
    const search = encodeURIComponent('äRZT');
    const first = await done('GET', `/users?search=${search}&limit=1`);
    const second = await done('GET', `/users?search=${search}&limit=1&cursor=${first.at('nextCursor')}`);
    expect([first.at('data.0.id'), second.at('data.0.id'), second.at('nextCursor')]).toEqual([users[0]?.id, users[1]?.id, undefined]);
    expect(second.at('data.0')).toMatchObject({ name: 'ÄRZTIN', hasSession: true, assignments: 1, lastLoginAt: expect.any(String) });
    expect(Object.keys(second.at('data.0') as object)).not.toContain('password');
    expect((await done('GET', `/users?policyId=${policy}&isActive=true&role=user`)).at('count')).toBe(1);
    const [entry] = await service.decisions('kind=admin&action=users.list&limit=1');
    expect(entry).toMatchObject({ facts: { question: { policyId: policy, isActive: true, role: 'user' } } });
  });
});

describe('a batch of assignment changes', () => {
  it('applies to the next request, in one revision, with one audit entry and the reason in the history', async () => {
    const [policy, user, other] = [await createPolicy(), await service.user({}), await createUser()];
    await done('POST', `/policies/${policy}/assign/user/${other}`, {});
    const read = () => service.call('GET', '/api/Note', { token: user.token });
    expect((await read()).status).toBe(403);
    const entries = (await service.decisions('kind=admin&action=assign&limit=1000')).length;
    const reply = await done('POST', '/assignments/batch', {
      changes: [
        { op: 'assign', policyId: policy, userId: user.id },
        { op: 'assign', policyId: policy, role: 'viewer' },
        { op: 'revoke', policyId: policy, userId: other },
      ],
      reason: 'the desk has changed',
    });
    expect(reply.at('message')).toBe('2 created, 1 revoked');
    const recorded = await service.decisions('kind=admin&action=assign&limit=1000');
    expect(recorded).toHaveLength(entries + 1);
    expect(recorded[0]).toMatchObject({
      reason: 'changed assignments: 2 created, 1 revoked',
      facts: { changeReason: 'the desk has changed' },
    });
    const history = (await done('GET', `/policies/${policy}/history`)).at('data') as readonly { revision: number; reason?: string }[];
    const changes = history.filter(({ reason }) => reason === 'the desk has changed');
    expect([changes.length, new Set(changes.map(({ revision }) => revision)).size]).toEqual([3, 1]);
  });

  it('assigns a policy to many users at once, and refuses all of them for one mistake', async () => {
    const policy = await createPolicy();
    const users = [await createUser(), await createUser(), await createUser()];
    const changes = users.map((userId) => ({ op: 'assign', policyId: policy, userId }));
    const refused = await ask('POST', '/assignments/batch', { changes: [...changes, { op: 'assign', policyId: policy, userId: 'none' }] });
    expect([refused.status, refused.at('errors.0.path')]).toEqual([422, 'changes.3.userId']);
    expect((await done('GET', `/policies/${policy}/assignments`)).at('count')).toBe(0);
    await done('POST', '/assignments/batch', { changes });
    expect((await done('GET', `/policies/${policy}/assignments`)).at('count')).toBe(3);
    const stale = await ask('POST', '/assignments/batch', {
      changes: users.map((userId) => ({ op: 'revoke', policyId: policy, userId, version: 1 })),
    });
    expect([stale.status, stale.at('code'), stale.at('errors.2.path')]).toEqual([412, 'RECORD_VERSION', 'changes.2.version']);
  });

  it('two batches that assign the same policy at once: one succeeds', async () => {
    const [policy, user] = [await createPolicy(), await createUser()];
    const body = {
      changes: [
        { op: 'assign', policyId: policy, userId: user },
        { op: 'assign', policyId: policy, role: 'editor' },
      ],
    };
    const replies = await Promise.all([ask('POST', '/assignments/batch', body), ask('POST', '/assignments/batch', body)]);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 422]);
    expect((await done('GET', `/policies/${policy}/assignments`)).at('count')).toBe(2);
  });
});
