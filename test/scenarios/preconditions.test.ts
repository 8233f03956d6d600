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

describe('a header that the request does not evaluate', () => {
  it.each([
    ['If-Match', 'POST', '/api/Tip/updateIfExists', { filter: { subject: 'header' }, data: { text: 'changed' } }],
    ['If-Match', 'POST', '/api/Tip/createIfNotExists', { filter: { subject: 'other' }, data: { subject: 'header', text: 'changed' } }],
    ['If-Match', 'POST', '/api/Tip/import', { data: [{ subject: 'header', text: 'changed' }] }],
    ['If-Match', 'POST', '/api/Tip/export', {}],
    ['If-Match', 'POST', '/api/batch', { requests: [{ resource: 'Tip', action: 'create', data: { subject: 'header', text: 'changed' } }] }],
    ['If-Match', 'POST', '/api/Tip', { subject: 'header', text: 'changed' }],
    ['If-None-Match', 'POST', '/api/Tip', { subject: 'header', text: 'changed' }],
    ['If-None-Match', 'POST', '/api/batch', { requests: [{ resource: 'Tip', action: 'list' }] }],
    ['If-None-Match', 'POST', '/api/Tip/import', { data: [{ subject: 'header', text: 'changed' }] }],
    ['If-None-Match', 'PUT', '/api/Tip/:id', { text: 'changed' }],
    ['If-None-Match', 'DELETE', '/api/Tip/:id', undefined],
  ])('refuses %s of %s %s, and changes nothing', async (header, method, path, body) => {
    const { token } = await service.admin();
    const id = await service.createRecord('Tip', { subject: 'header', text: 'as created' });
    const before = (await service.call('GET', '/api/Tip?total=true', { token })).at('total');
    for (const value of ['*', '"99"', 'garbage']) {
      const sent = { token, headers: { [header.toLowerCase()]: value }, ...(body !== undefined && { body }) };
      const refused = await service.call(method, path.replace(':id', id), sent);
      expect([refused.status, refused.at('code'), refused.at('errors.0.path')]).toEqual([400, 'REQUEST_MALFORMED', header]);
    }
    expect((await service.call('GET', `/api/Tip/${id}`, { token })).at('data.text')).toBe('as created');
    expect((await service.call('GET', '/api/Tip?total=true', { token })).at('total')).toBe(before);
  });
});

describe('If-None-Match of a read', () => {
  /** Reads a record with the ETag that the client has, and returns the response with the audit entries of the read. */
  async function read(path: string, ifNoneMatch: string, method = 'GET') {
    const { token } = await service.admin();
    const reply = await service.call(method, path, { token, headers: { 'if-none-match': ifNoneMatch } });
    const entries = await service.decisions(`requestId=${reply.headers['x-request-id']}`);
    return { reply, entries };
  }

  it.each(['GET', 'HEAD'])(
    'answers a %s with 304 and without a body while the record is unchanged, with an audit entry',
    async (method) => {
      const id = await service.createRecord('Tip', { subject: 'cached', text: 'as created' });
      for (const header of ['"1"', 'W/"1"', '"7", "1"', '*']) {
        const { reply, entries } = await read(`/api/Tip/${id}`, header, method);
        expect([reply.status, reply.text, reply.headers['etag']]).toEqual([304, '', '"1"']);
        expect(entries).toMatchObject([{ id: reply.headers['x-decision-id'], action: 'read', recordId: id, allowed: true }]);
      }
    },
  );

  it('answers with the record after a change, and to a header without its ETag', async () => {
    const { token } = await service.admin();
    const id = await service.createRecord('Tip', { subject: 'cached', text: 'as created' });
    await service.call('PUT', `/api/Tip/${id}`, { token, body: { text: 'changed' }, headers: { 'if-match': '"1"' } });
    for (const header of ['"1"', 'garbage', '2']) {
      const { reply } = await read(`/api/Tip/${id}`, header);
      expect([reply.status, reply.at('data.text'), reply.headers['etag']]).toEqual([200, 'changed', '"2"']);
    }
  });

  it.each(['fields=title', 'expand=comments:Comment.articleId'])('answers with the record if the query has %s', async (query) => {
    const maya = await service.user();
    const id = await service.createRecord('Article', { title: 'Cached', slug: query.slice(0, 6), authorId: maya.id });
    const { reply } = await read(`/api/Article/${id}?${query}`, '"1"');
    expect([reply.status, reply.at('data.id'), reply.headers['etag']]).toEqual([200, id, '"1"']);
  });

  it('answers 404 for a record that does not exist', async () => {
    const { reply } = await read('/api/Tip/01900000-0000-7000-8000-000000000000', '*');
    expect([reply.status, reply.at('code')]).toEqual([404, 'RECORD_UNKNOWN']);
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
