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
