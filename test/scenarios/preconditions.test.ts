import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';

let service: RunningService;
beforeAll(async () => {
  service = await startService({ project: 'examples/newsroom', settings: { ifMatch: 'required' } });
});
afterAll(() => service.close());

describe('a service that requires If-Match', () => {
  it.each(['PUT', 'DELETE'])('%s without If-Match is refused, with an audit entry', async (method) => {
    const { token } = await service.admin();
    const id = await service.createRecord('Tip', { subject: 'psst', text: 'listen' });
    const body = method === 'PUT' ? { body: { subject: 'hush' } } : {};
    const refused = await service.call(method, `/api/Tip/${id}`, { token, ...body });
    expect([refused.status, refused.at('code')]).toEqual([428, 'RECORD_VERSION_REQUIRED']);
    expect((await service.decisions('limit=1'))[0]).toMatchObject({ recordId: id, allowed: true, outcome: 'RECORD_VERSION_REQUIRED' });
    const done = await service.call(method, `/api/Tip/${id}`, { token, ...body, headers: { 'if-match': '"1"' } });
    expect(done.status).toBe(200);
  });

  it('a read and a create do not need If-Match', async () => {
    const { token } = await service.admin();
    const id = await service.createRecord('Tip', { subject: 'psst', text: 'listen' });
    expect((await service.call('GET', `/api/Tip/${id}`, { token })).status).toBe(200);
  });
});

describe('a deleted user', () => {
  it('a deleted user has no assignments', async () => {
    const { token } = await service.admin();
    const user = await service.user();
    const path = `/admin/api/users/${user.id}/policies`;
    await service.createPolicy({ userId: user.id, rules: [{ resource: 'Tip', action: 'read' }] });
    expect((await service.call('GET', path, { token })).at('count')).toBe(1);
    const gone = await service.call('DELETE', `/api/User/${user.id}`, { token, headers: { 'if-match': '*' } });
    expect(gone.status, gone.text).toBe(200);
    expect((await service.call('GET', path, { token })).at('count')).toBe(0);
  });
});
