/** Saved views: the documents that users save for themselves, their versions and their limits. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

let service: RunningService;
let uma: TestUser;
beforeAll(async () => {
  service = await startService();
  uma = await service.user();
});
afterAll(() => service.close());

/** Names that are no segment of a path, or that a browser or proxy changes in one. */
const UNSAFE_IN_PATHS = ['Denials/night', '/', '%2F', '..', '.', 'a\\b', 'what?', '#1', 'a&name=b', 'a+b', '🗞️', 'رفض', '\u202Enight'];

const VIEW = { screen: 'decisions', query: { where: { allowed: false }, columns: ['at', 'reason'] } };
type Sent = Pick<CallOptions, 'body' | 'headers'> & { readonly token?: string };
const send = (method: string, name: string, { token = uma.token, ...sent }: Sent = {}): Promise<Reply> =>
  service.call(method, `/auth/me/views${name === '' ? '' : `?name=${encodeURIComponent(name)}`}`, { token, ...sent });
const put = (name: string, body: unknown = VIEW, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
  send('PUT', name, { body, headers });
const names = async (token = uma.token): Promise<readonly unknown[]> =>
  ((await send('GET', '', { token })).at('data') as readonly { readonly name: string }[]).map(({ name }) => name);
const issuesOf = (reply: Reply): readonly string[] =>
  (reply.at('errors') as readonly { path: string; code: string }[]).map(({ path, code }) => `${path}: ${code}`);

describe('saved views', () => {
  it('a view is created, listed as it was sent, replaced with its ETag, and deleted', async () => {
    const created = await put('Denials at night');
    expect([created.status, created.headers.etag]).toEqual([201, '"1"']);
    const view = { name: 'Denials at night', ...VIEW, version: 1, updatedAt: expect.any(String) };
    expect(created.body).toEqual({ success: true, data: view });
    expect((await send('GET', '')).at('data')).toContainEqual(view);
    const changed = { screen: 'decisions', query: { where: {} } };
    const replaced = await put('Denials at night', changed, { 'if-match': '"1"' });
    expect([replaced.status, replaced.headers.etag, replaced.at('data')]).toEqual([200, '"2"', { ...view, ...changed, version: 2 }]);
    expect((await send('DELETE', 'Denials at night', { headers: { 'if-match': '"2"' } })).status).toBe(200);
    expect(await names()).not.toContain('Denials at night');
  });

  it('two tabs cannot overwrite the view of each other', async () => {
    const created = await Promise.all([put('Both'), put('Both')]);
    expect(created.map(({ status }) => status).sort()).toEqual([201, 428]);
    const replaced = await Promise.all(['a', 'b'].map((screen) => put('Both', { ...VIEW, screen }, { 'if-match': '"1"' })));
    expect(replaced.map(({ status }) => status).sort()).toEqual([200, 412]);
    expect(replaced.find(({ status }) => status === 412)?.at('code')).toBe('RECORD_VERSION');
    expect((await send('DELETE', 'Both', { headers: { 'if-match': '"1"' } })).status).toBe(412);
    expect((await send('DELETE', 'Both')).status).toBe(200);
  });

  it('an ETag of a view that does not exist is refused', async () => {
    expect((await put('Nothing', VIEW, { 'if-match': '"1"' })).status).toBe(412);
    expect((await send('DELETE', 'Nothing')).at('code')).toBe('VIEW_UNKNOWN');
    expect(issuesOf(await put('Nothing', VIEW, { 'if-match': 'x' }))).toEqual(['If-Match: format']);
  });

  it('each user has views of their own', async () => {
    const { token } = await service.user();
    await put('Mine');
    expect(await names(token)).toEqual([]);
    expect((await send('DELETE', 'Mine', { token })).status).toBe(404);
    expect((await send('PUT', 'Mine', { token, body: VIEW })).status).toBe(201);
    expect(await names()).toContain('Mine');
  });

  it('names are kept as they are, and are not read as paths or SQL', async () => {
    const { token } = await service.user();
    const given = ['ä ö ü', "Robert'); DROP TABLE", '__proto__', 'constructor', '%', 'a b', 'A', ...UNSAFE_IN_PATHS];
    for (const name of given) expect((await send('PUT', name, { token, body: VIEW })).status, name).toBe(201);
    expect((await names(token)).toSorted()).toEqual(given.toSorted());
    for (const name of given) {
      const replaced = await send('PUT', name, { token, body: VIEW, headers: { 'if-match': '"1"' } });
      expect([replaced.status, replaced.at('data.name')], name).toEqual([200, name]);
      expect((await send('DELETE', name, { token, headers: { 'if-match': '"2"' } })).status, name).toBe(200);
    }
    expect(await names(token)).toEqual([]);
  });

  it('the views of a deleted user are deleted', async () => {
    const { id, token } = await service.user();
    await send('PUT', 'Last', { token, body: VIEW });
    const admin = (await service.admin()).token;
    expect((await service.call('DELETE', `/api/User/${id}`, { token: admin })).status).toBe(200);
    expect((await send('GET', '', { token })).status).toBe(401);
  });
});

describe('a view with a mistake', () => {
  const refused: readonly (readonly [string, string, unknown, readonly string[]])[] = [
    ['no screen', 'x', { query: {} }, ['screen: required']],
    ['a text as its state', 'x', { screen: 'a', query: 'b' }, ['query: type']],
    ['a list as its state', 'x', { screen: 'a', query: [] }, ['query: type']],
    ['an unknown member', 'x', { ...VIEW, userId: 'other' }, ['userId: unknown']],
    ['a state that is too long', 'x', { screen: 'a', query: { text: 'x'.repeat(16_400) } }, ['query: tooLong']],
  ];

  it.each(refused)('refuses a view with %s', async (_, name, body, issues) => {
    const reply = await put(name, body);
    expect([reply.status, issuesOf(reply)]).toEqual([422, issues]);
  });

  it('refuses a request without a name, with two names or with one that is too long', async () => {
    const { token } = uma;
    const queries = ['', '?name=', '?name=a&name=b', `?name=${'x'.repeat(101)}`, '?name=a&other=b'];
    for (const query of queries) {
      const reply = await service.call('PUT', `/auth/me/views${query}`, { token, body: VIEW });
      expect([reply.status, reply.at('code')], query).toEqual([400, 'REQUEST_PARAMETER']);
    }
  });

  it('refuses a body that is far too large before it is parsed', async () => {
    expect((await put('x', { screen: 'a', query: { text: 'x'.repeat(200_000) } })).status).toBe(413);
  });

  it('refuses the 101st view, also of several at once, and still replaces views', async () => {
    const { token } = await service.user();
    for (let index = 0; index < 98; index++) await send('PUT', `view ${index}`, { token, body: VIEW });
    const last = await Promise.all(['a', 'b', 'c', 'd'].map((name) => send('PUT', name, { token, body: VIEW })));
    expect(last.map(({ status }) => status).sort()).toEqual([201, 201, 422, 422]);
    expect(await names(token)).toHaveLength(100);
    expect((await send('PUT', 'view 0', { token, body: VIEW, headers: { 'if-match': '"1"' } })).status).toBe(200);
  });

  it.each(['GET', 'PUT', 'DELETE'])('refuses %s without a token', async (method) => {
    const path = method === 'GET' ? '/auth/me/views' : '/auth/me/views?name=x';
    const reply = await service.call(method, path, method === 'PUT' ? { body: VIEW } : {});
    expect([reply.status, reply.at('code')]).toEqual([401, 'IDENTITY_REQUIRED']);
  });
});
