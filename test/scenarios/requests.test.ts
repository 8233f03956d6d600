/** Behavior of every request: request id, audit entry, preconditions, and problem details for invalid input. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { startNewsroom } from './newsroom-service.ts';
import { checkScenarios, type Scenario, type ScenarioContext } from './scenario.ts';

// The tests of this file build on each other.
const it = createChain();

let context: ScenarioContext;
beforeAll(async () => {
  context = await startNewsroom();
  const { service, kept } = context;
  kept.set('article', await service.createRecord('Article', { title: 'First', slug: 'first', authorId: kept.get('maya') }));
  await service.createPolicy({
    name: 'readers',
    userId: kept.get('maya') as string,
    rules: ['read', 'list', 'update'].map((action) => ({
      resource: 'Article',
      action,
      conditions: [{ field: 'resource.status', operator: 'eq', value: 'draft' }],
    })),
  });
});
afterAll(() => context.service.close());

const update = { action: 'update', recordId: '{article}', allowed: true };
const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';

describe('the request id', () => {
  const read = (name: string, id: string, headers_have: Scenario['headers_have'], entry: object): Scenario => ({
    name,
    as: 'admin',
    send: 'GET /api/Article/{article}',
    headers: { 'x-request-id': id },
    status: 200,
    ...(headers_have === undefined ? {} : { headers_have }),
    entries: [entry],
  });
  checkScenarios(
    () => context,
    [
      read(
        'takes the request id from a valid header of the caller',
        'from-the-caller.1',
        { 'x-request-id': 'from-the-caller.1' },
        { requestId: 'from-the-caller.1' },
      ),
      read('generates the request id if the header is invalid', 'a b', undefined, { action: 'read' }),
    ],
    it,
  );

  it('generates the request id if the header has markup, and includes it in the problem', async () => {
    const reply = await context.service.call('GET', '/api/Nothing', { headers: { 'x-request-id': '<script>' } });
    expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(reply.at('requestId')).toBe(reply.headers['x-request-id']);
  });
});

describe('preconditions', () => {
  const put = (name: string, ifMatch: string, status: number, outcome?: string): Scenario => ({
    name: `an update with If-Match of ${name} answers ${status}`,
    as: 'maya',
    send: 'PUT /api/Article/{article}',
    headers: { 'if-match': ifMatch },
    body: { body: name },
    status,
    ...(status === 400 ? {} : { entries: [outcome === undefined ? update : { ...update, outcome }] }),
  });
  checkScenarios(
    () => context,
    [
      {
        name: 'a read returns the version as ETag',
        as: 'maya',
        send: 'GET /api/Article/{article}',
        status: 200,
        headers_have: { etag: '"1"' },
        entries: [{}],
      },
      put('the current version', '"1"', 200),
      put('an earlier version', '"1"', 412, 'RECORD_VERSION'),
      put('any version', '*', 200),
      put('one of several matches', '"1", "3"', 200),
      put('none of several matches', '"1", "3"', 412, 'RECORD_VERSION'),
      put('a weak ETag', 'W/"4"', 200),
      put('an ETag without quotes', '4', 400),
      put('an unknown ETag', '"abc"', 400),
      {
        name: 'the action route takes the version to update in the body',
        as: 'maya',
        send: 'POST /api/Article/update',
        body: { id: '{article}', data: { body: 'x' }, ifMatch: 4 },
        status: 412,
        entries: [{ ...update, outcome: 'RECORD_VERSION' }],
      },
      {
        name: 'an update returns the new version',
        as: 'maya',
        send: 'PUT /api/Article/{article}',
        body: { body: 'y' },
        status: 200,
        headers_have: { etag: '"6"' },
        body_has: { data: { version: 6 } },
        entries: [update],
      },
      {
        name: 'a denied update does not reveal the version',
        as: 'reader',
        send: 'PUT /api/Article/{article}',
        headers: { 'if-match': '"1"' },
        body: { body: 'z' },
        status: 403,
        entries: [{ action: 'update', allowed: false }],
      },
      {
        name: 'a delete of an earlier version is refused',
        as: 'admin',
        send: 'DELETE /api/Article/{article}',
        headers: { 'if-match': '"1"' },
        status: 412,
        entries: [{ action: 'delete', allowed: true, outcome: 'RECORD_VERSION' }],
      },
    ],
    it,
  );
});

describe('HEAD', () => {
  it('HEAD is decided and audited like GET, without the body', async () => {
    const { service, tokens, kept } = context;
    const token = tokens.get('maya');
    const reply = await service.call('HEAD', `/api/Article/${kept.get('article')}`, { token });
    expect(reply).toMatchObject({ status: 200, text: '', headers: { etag: '"6"' } });
    const [entry] = await service.decisions('limit=1&kind=access');
    expect(entry).toMatchObject({ id: reply.headers['x-decision-id'], action: 'read', allowed: true });
    expect((await service.call('HEAD', '/api/Tip', { token })).status).toBe(403);
  });
});

describe('responses to decided requests', () => {
  /** Caller, request and status. Each scenario compares X-Decision-Id with the audit entry. */
  const ROWS: readonly (readonly [as: string | undefined, send: string, status: number, body?: unknown])[] = [
    ['admin', 'GET /api/Article', 200],
    ['admin', 'GET /api/Article?limit=1&where[slug]=first', 200],
    [undefined, 'GET /api/Article', 403],
    ['reader', 'DELETE /api/Article/{article}', 403],
    ['admin', `GET /api/Article/${UNKNOWN_ID}`, 404],
    ['admin', `PUT /api/Article/${UNKNOWN_ID}`, 404, { title: 'Nothing' }],
    ['admin', `DELETE /api/Article/${UNKNOWN_ID}`, 404],
    ['admin', 'GET /api/Article/not-an-id', 404],
    ['admin', 'POST /api/Article', 422, {}],
    ['admin', 'POST /api/Article/import', 422, { data: [{}] }],
    ['admin', 'GET /api/Article?where[nothing]=1', 400],
    ['admin', 'POST /api/Article/export', 200, { limit: 1 }],
    ['admin', 'GET /api/Article/schema', 200],
    ['admin', 'POST /api/Article/updateIfExists', 200, { filter: { slug: 'nothing' }, data: {} }],
  ];
  checkScenarios(
    () => context,
    ROWS.map(([as, send, status, body]): Scenario => {
      return {
        name: `returns X-Decision-Id to ${as ?? 'anon'} with ${status} for ${send}`,
        ...(as === undefined ? {} : { as }),
        send,
        ...(body === undefined ? {} : { body }),
        status,
        entries: Array(send.endsWith('IfExists') ? 2 : 1).fill({ kind: 'access', allowed: status !== 403 }),
      };
    }),
    it,
  );

  it('a batch returns the id of the decision in each item', async () => {
    const { service, tokens, kept } = context;
    const requests = [
      { resource: 'Article', action: 'read', id: kept.get('article') },
      { resource: 'Article', action: 'read', id: UNKNOWN_ID },
      { resource: 'Tip', action: 'list' },
      { resource: 'Article', action: 'update', id: kept.get('article'), data: { title: 7 } },
    ];
    const reply = await service.call('POST', '/api/batch', { token: tokens.get('maya'), body: { requests } });
    const items = reply.at('data') as readonly { status: number; decisionId: string }[];
    expect(items.map(({ status }) => status)).toEqual([200, 403, 403, 422]);
    const entries = await service.decisions('limit=4&kind=access');
    expect(items.map(({ decisionId }) => decisionId)).toEqual(entries.map(({ id }) => id).reverse());
    expect(entries.map(({ requestId }) => requestId)).toEqual(items.map(() => reply.headers['x-request-id']));
  });
});

/** Invalid requests. They are refused before a decision, so they have no audit entry and change nothing. */
const BAD: readonly (Omit<Scenario, 'as'> & { readonly as?: string })[] = [
  { name: 'malformed JSON', send: 'POST /api/Article', raw: '{"title":', status: 400, body_has: { code: 'REQUEST_MALFORMED' } },
  { name: 'an empty body', send: 'POST /api/Article', raw: '', status: 422, body_has: { code: 'VALUE_INVALID' } },
  { name: 'no body', send: 'POST /api/Article', status: 422, body_has: { code: 'VALUE_INVALID' } },
  { name: 'a list instead of a record', send: 'POST /api/Article', body: [], status: 422, body_has: { code: 'VALUE_INVALID' } },
  { name: 'null instead of a record', send: 'PUT /api/Article/{article}', raw: 'null', status: 422 },
  { name: 'JSON with 100,000 levels', send: 'POST /api/Article', raw: `${'['.repeat(100_000)}${']'.repeat(100_000)}`, status: 400 },
  { name: 'JSON with 65 levels', send: 'POST /api/Article', raw: `{"tags":${'['.repeat(65)}${']'.repeat(65)}}`, status: 400 },
  {
    name: 'a body of 10 MB',
    send: 'POST /api/Article',
    raw: `{"title":"${'x'.repeat(10_000_000)}"}`,
    status: 413,
    body_has: { code: 'REQUEST_TOO_LARGE' },
  },
  {
    name: 'a body of plain text',
    send: 'POST /api/Article',
    raw: 'title',
    headers: { 'content-type': 'text/plain' },
    status: 415,
    body_has: { code: 'REQUEST_MEDIA_TYPE' },
  },
  {
    name: 'an unknown resource, and names the probable one in the message',
    send: 'GET /api/Articles',
    status: 404,
    body_has: { code: 'RESOURCE_UNKNOWN', detail: 'no resource is named "Articles" (did you mean "Article"?)' },
  },
  { name: '__proto__ as a resource', send: 'GET /api/__proto__', status: 404, body_has: { code: 'RESOURCE_UNKNOWN' } },
  {
    name: 'constructor as an action',
    send: 'POST /api/Article/constructor',
    body: {},
    status: 404,
    body_has: { code: 'REQUEST_NO_ROUTE' },
  },
  {
    name: 'an action with a typo, and names the probable one in the message',
    send: 'POST /api/Article/updateIfExist',
    body: {},
    status: 404,
    body_has: { detail: 'no action is named "updateIfExist" (did you mean "updateIfExists"?)' },
  },
  {
    name: 'a list with limit=-1',
    send: 'GET /api/Article?limit=-1',
    status: 400,
    body_has: { errors: [{ path: 'limit', code: 'range' }] },
  },
  {
    name: 'an invalid token',
    as: 'nobody',
    send: 'GET /api/Article',
    headers: { authorization: 'Bearer x.y.z' },
    status: 401,
    body_has: { code: 'IDENTITY_TOKEN' },
    entries: [{ kind: 'auth', action: 'token', allowed: false }],
  },
  {
    name: 'an unsupported method',
    send: 'PATCH /api/Article/{article}',
    body: {},
    status: 405,
    headers_have: { allow: 'DELETE, GET, HEAD, POST, PUT' },
    body_has: { code: 'REQUEST_METHOD' },
  },
  { name: 'an unknown path', send: 'GET /nothing', status: 404, body_has: { code: 'REQUEST_NO_ROUTE' } },
  ...[
    'POST /api/batch?atomic=true',
    'POST /api/Article?draft=1',
    'GET /api/Article/schema?full=1',
    'POST /api/Article/list?limit=1',
    'GET /auth/me?full=1',
    'POST /auth/login?next=1',
  ].map((send) => ({
    name: `an unexpected query parameter: ${send}`,
    send,
    ...(send.startsWith('POST') ? { body: { requests: [{ resource: 'Article', action: 'list' }] } } : {}),
    status: 400,
    body_has: { code: 'REQUEST_PARAMETER' },
  })),
  {
    name: 'an unexpected query parameter of a delete',
    send: 'DELETE /api/Article/{article}?force=true',
    status: 400,
    body_has: { errors: [{ path: 'force', code: 'unknown' }] },
  },
  {
    name: 'createIfNotExists without a filter',
    send: 'POST /api/Article/createIfNotExists',
    body: { data: {} },
    status: 400,
    body_has: { errors: [{ path: 'filter', code: 'required' }] },
  },
  {
    name: 'updateIfExists with an empty filter',
    send: 'POST /api/Article/updateIfExists',
    body: { filter: {}, data: {} },
    status: 400,
    body_has: { errors: [{ path: 'filter' }] },
  },
  {
    name: 'updateIfExists without data',
    send: 'POST /api/Article/updateIfExists',
    body: { filter: { slug: 'x' } },
    status: 400,
    body_has: { errors: [{ path: 'data', code: 'required' }] },
  },
  {
    name: 'an empty batch',
    send: 'POST /api/batch',
    body: { requests: [] },
    status: 400,
    body_has: { errors: [{ path: 'requests' }] },
  },
  { name: 'a batch of 101 requests', send: 'POST /api/batch', body: { requests: Array.from({ length: 101 }, () => ({})) }, status: 413 },
  {
    name: 'a batch with an unknown member',
    send: 'POST /api/batch',
    body: { requests: [{}], atomc: true },
    status: 400,
    body_has: { errors: [{ path: 'atomc' }] },
  },
];

describe('invalid input', () => {
  checkScenarios(
    () => context,
    BAD.map((row): Scenario => ({ as: 'admin', ...row, name: `refuses ${row.name}` })),
    it,
  );

  it('no refused request has changed a record', async () => {
    const { service, tokens, kept } = context;
    const reply = await service.call('GET', `/api/Article/${kept.get('article')}`, { token: tokens.get('admin') });
    expect(reply.at('data.version')).toBe(6);
    expect((await service.call('GET', '/api/Article?total=true', { token: tokens.get('admin') })).at('total')).toBe(1);
  });
});

describe('an invalid batch item', () => {
  checkScenarios(
    () => context,
    [
      {
        name: 'returns the error of an invalid batch item, and executes the other items',
        as: 'admin',
        send: 'POST /api/batch',
        body: {
          requests: [
            7,
            { resource: 'Article' },
            { resource: 'Article', action: 'frobnicate' },
            { resource: 'Article', action: 'list', filter: {} },
            { resource: 'Article', action: 'read' },
            { resource: 'Article', action: 'list', limit: -1 },
            { resource: 'Article', action: 'list', limit: 1 },
          ],
        },
        status: 200,
        body_has: {
          count: 7,
          data: [
            { status: 400, error: { code: 'REQUEST_MALFORMED' } },
            { status: 400, error: { errors: [{ path: 'action', code: 'required' }] } },
            { status: 404, error: { code: 'REQUEST_NO_ROUTE' } },
            { status: 400, error: { errors: [{ path: 'filter', code: 'unknown' }] } },
            { status: 400, error: { errors: [{ path: 'id', code: 'required' }] } },
            { status: 400, error: { errors: [{ path: 'limit' }] } },
            { status: 200, success: true, count: 1 },
          ],
        },
        entries: [{ action: 'list', allowed: true }],
      },
      {
        name: 'executes an atomic batch of valid items',
        as: 'admin',
        send: 'POST /api/batch',
        body: {
          atomic: true,
          requests: [
            { resource: 'Article', action: 'create', data: { title: 'Second', slug: 'second', authorId: '{maya}' } },
            { resource: 'Article', action: 'list', where: { slug: 'second' } },
          ],
        },
        status: 200,
        body_has: {
          count: 2,
          data: [
            { status: 201, success: true },
            { status: 200, count: 1 },
          ],
        },
        entries: [
          { action: 'create', allowed: true },
          { action: 'list', allowed: true },
        ],
      },
    ],
    it,
  );

  it('rolls back an atomic batch with an invalid item, and names the item', async () => {
    const { service, tokens, kept } = context;
    const requests = [
      { resource: 'Article', action: 'update', id: kept.get('article'), data: { body: 'no' } },
      { resource: 'Nothing', action: 'list' },
    ];
    const reply = await service.call('POST', '/api/batch', { token: tokens.get('admin'), body: { atomic: true, requests } });
    expect(reply.status).toBe(404);
    expect(reply.body).toMatchObject({ code: 'RESOURCE_UNKNOWN', errors: [{ path: 'requests.1' }] });
    const [entry] = await service.decisions('limit=1');
    expect(entry).toMatchObject({ action: 'update', allowed: true, outcome: 'BATCH_ABORTED', requestId: reply.at('requestId') });
  });
});

it.each(['GET', 'HEAD', 'PUT', 'DELETE'])('answers %s of the path of batches with 405', async (method) => {
  const reply = await context.service.call(method, '/api/batch', {});
  expect([reply.status, reply.headers['allow']]).toEqual([405, 'POST']);
});
