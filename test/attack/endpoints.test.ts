/** Other spellings of a path, other methods and other endpoints do not avoid a decision or its audit entry. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Attack, type AttackTarget, type Body, checkAttacks, startAttackTarget } from './attack-target.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

const SPELLINGS = [
  '//api/Case',
  '/api//Case',
  '/api/Case/',
  '/API/Case',
  '/Api/Case',
  '/api/./Case',
  '/api/../api/Case',
  '/auth/../admin/api/policies',
  '/api/%2e%2e/admin/api/policies',
  '/api/%2E%2E%2Fadmin%2Fapi%2Fpolicies',
  '/api/Case%2f..%2f..%2fadmin',
  '/api/Case/..%2f..%2fadmin%2fapi%2fpolicies',
  '/api%2fCase',
  '/admin/api//policies',
  '/admin/api/policies/',
  '/ADMIN/api/policies',
  '/admin;/api/policies',
  '/api/Case;x',
  '/api/Case%00',
  '/api/Case/schema/',
  '/\\api\\Case',
  '/.env',
  '/data/jwt.key',
  '/docs/../../package.json',
  '/docs/%2e%2e/%2e%2e/package.json',
  '/docs/..%2f..%2f..%2fpackage.json',
];

describe('other spellings of a path', () => {
  checkAttacks(
    () => target,
    SPELLINGS.map(
      (path): Attack => ({
        name: `neither finds nor allows ${path}`,
        as: ['anon', 'alice', 'admin'],
        send: `GET ${path}`,
        answers: [400, 403, 404],
      }),
    ),
  );
});

describe('methods', () => {
  const override = ['x-http-method-override', 'x-http-method', 'x-method-override'];
  checkAttacks(
    () => target,
    [
      ...['PATCH', 'TRACE', 'PROPFIND', 'SEARCH', 'PURGE'].map(
        (method): Attack => ({ name: method, send: ({ cases }) => `${method} /api/Case/${cases.alice}`, answers: [400, 404, 405] }),
      ),
      ...override.map(
        (header): Attack => ({
          name: `${header} on GET`,
          as: 'admin',
          send: ({ cases }) => `GET /api/Case/${cases.alice}`,
          headers: { [header]: 'DELETE' },
          answers: 200,
        }),
      ),
      ...override.map(
        (header): Attack => ({
          name: `${header} on POST`,
          as: 'anon',
          send: 'POST /api/Case',
          body: { title: 'x' },
          headers: { [header]: 'GET' },
          answers: 403,
        }),
      ),
      { name: '_method in the query', as: 'admin', send: ({ cases }) => `GET /api/Case/${cases.alice}?_method=DELETE`, answers: 400 },
      {
        name: 'HEAD of an unreadable record',
        send: ({ cases }) => `HEAD /api/Case/${cases.bob}`,
        answers: [403, 404, 405],
        also: (reply) => expect(reply.headers.etag).toBeUndefined(),
      },
      { name: 'HEAD of the policies', send: 'HEAD /admin/api/policies', answers: [403, 404, 405] },
      {
        name: 'OPTIONS of another origin',
        as: 'anon',
        send: 'OPTIONS /api/Case',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'DELETE' },
        answers: 403,
        also: (reply) => expect([reply.at('code'), reply.headers['access-control-allow-origin']]).toEqual(['REQUEST_ORIGIN', undefined]),
      },
      {
        name: 'a request of another origin',
        as: 'anon',
        send: 'GET /api/Case',
        headers: { origin: 'https://evil.example' },
        answers: 200,
        also: (reply) => expect(reply.headers['access-control-allow-origin']).toBeUndefined(),
      },
      { name: 'POST on a record', send: ({ cases }) => `POST /api/Case/${cases.alice}`, body: {}, answers: 404 },
      { name: 'DELETE on a resource', as: 'admin', send: 'DELETE /api/Case', answers: 405 },
      { name: 'PUT on a resource', as: 'admin', send: 'PUT /api/Case', body: {}, answers: 405 },
    ],
    'bypasses no decision by ',
  );
});

describe('action names', () => {
  checkAttacks(
    () => target,
    [
      'constructor',
      '__proto__',
      'toString',
      'hasOwnProperty',
      'valueOf',
      'schema',
      'Create',
      'drop',
      'batch',
      'createifnotexists',
      '*',
      'create%00',
      'then',
    ].flatMap((action): readonly Attack[] => [
      { name: action, as: ['anon', 'alice', 'admin'], send: `POST /api/Case/${action}`, body: {}, answers: 404 },
      {
        name: `${action} in a batch`,
        as: 'admin',
        send: 'POST /api/batch',
        body: { requests: [{ resource: 'Case', action }] },
        answers: 200,
        also: (reply) => expect(action === 'schema' ? [200] : [400, 404]).toContain(reply.at('data.0.status')),
      },
    ]),
    'executes only known actions: ',
  );
});

describe('a batch item with its members in data', () => {
  const item = (what: string, data: (target: AttackTarget) => Body, status: number, as: Attack['as'] = 'alice'): Attack => ({
    name: `answers a batch item for a ${what} with ${status}`,
    as,
    send: 'POST /api/batch',
    body: (its) => ({ requests: [{ resource: 'Case', action: what.split(' ')[0], data: data(its) }] }),
    answers: 200,
    also: (reply) =>
      expect([reply.at('data.0.status'), typeof reply.at('data.0.decisionId')]).toEqual([status, status === 400 ? 'undefined' : 'string']),
  });
  checkAttacks(
    () => target,
    [
      item('read of a hidden record', ({ cases }) => ({ id: cases.bob }), 403),
      item('update of a hidden record', ({ cases }) => ({ id: cases.bob, title: 'mine' }), 403),
      item('delete of a hidden record', ({ cases }) => ({ id: cases.bob }), 403),
      item('read of a hidden record', ({ cases }) => ({ id: cases.alice }), 403, 'anon'),
      item('update of the version', ({ cases }) => ({ id: cases.alice, version: 1 }), 422),
      item('update of a list of ids', ({ cases }) => ({ id: [cases.alice] }), 400),
      item('read with another resource', ({ cases }) => ({ id: cases.alice, resource: 'User' }), 400),
      item('read with another action', ({ cases }) => ({ id: cases.alice, action: 'delete' }), 400),
      item('read with data within data', ({ cases }) => ({ data: { id: cases.alice } }), 400),
    ],
  );

  it('does not disclose the id of a denied batch item to a later item that refers to it', async () => {
    const requests = [
      { resource: 'Case', action: 'read', data: { id: target.cases.bob } },
      { resource: 'Case', action: 'create', data: { title: '$0.id' } },
    ];
    const reply = await target.as('alice', 'POST', '/api/batch', { body: { requests } });
    expect([reply.at('data.0.status'), reply.at('data.1.status')]).toEqual([403, 424]);
    expect(reply.at('data.1.error.detail')).not.toContain(target.cases.bob);
  });
});

const ADMIN_ROUTES = [
  'GET /admin/api/policies',
  'POST /admin/api/policies',
  'GET /admin/api/policies/x',
  'PUT /admin/api/policies/x',
  'DELETE /admin/api/policies/x',
  'POST /admin/api/policies/x/assign/user/y',
  'PUT /admin/api/policies/x/assign/user/y',
  'DELETE /admin/api/policies/x/assign/user/y',
  'POST /admin/api/policies/x/assign/role/user',
  'PUT /admin/api/policies/x/assign/role/user',
  'DELETE /admin/api/policies/x/assign/role/user',
  'GET /admin/api/users/x/policies',
  'GET /admin/api/roles/user/policies',
  'POST /admin/api/policies/test-access',
  'POST /admin/api/policies/x/test',
  'GET /admin/api/policies-analytics',
  'GET /admin/api/policies-templates',
  'GET /admin/api/decisions',
  'GET /admin/api/decisions/x',
];

describe('the admin endpoints', () => {
  const bodyOf = (route: string): object => (route.startsWith('GET') || route.startsWith('DELETE') ? {} : { body: {} });
  checkAttacks(
    () => target,
    ADMIN_ROUTES.flatMap((send): readonly Attack[] => [
      {
        name: `refuses ${send}`,
        as: 'anon',
        send,
        ...bodyOf(send),
        answers: 401,
        also: (reply) => expect(reply.headers['www-authenticate']).toContain('Bearer'),
      },
      {
        name: `refuses ${send}`,
        as: ['alice', 'eve'],
        send,
        ...bodyOf(send),
        answers: 403,
        also: (reply) => expect(reply.at('code')).toBe('ACCESS_ADMIN'),
      },
    ]),
  );

  it('refuses the admin endpoints to a user with full access to resources', async () => {
    await target.createPolicy({ userId: target.ids.bob, rules: [{ resource: '*', action: '*', priority: 10_000 }] });
    expect((await target.as('bob', 'GET', '/admin/api/policies')).status).toBe(403);
  });
});

describe('a batch', () => {
  const requests = (...items: readonly unknown[]): { body: { requests: readonly unknown[] } } => ({ body: { requests: items } });

  checkAttacks(
    () => target,
    [
      {
        name: 'in a batch',
        send: 'POST /api/batch',
        ...requests({ resource: 'batch', action: 'batch', data: {} }),
        answers: 200,
        also: (reply) => expect([400, 404]).toContain(reply.at('data.0.status')),
      },
      {
        name: 'by its resource name',
        send: 'POST /api/batch',
        ...requests({ resource: 'batch', action: 'create', requests: [] }),
        answers: 200,
        also: (reply) => expect([400, 404]).toContain(reply.at('data.0.status')),
      },
      {
        name: 'with a token of its own',
        send: 'POST /api/batch',
        ...requests({ resource: 'Case', action: 'list', token: 'x' }),
        answers: 200,
        also: (reply) => expect(reply.at('data.0.status')).toBe(400),
      },
      {
        name: 'with a user of its own',
        send: 'POST /api/batch',
        ...requests({ resource: 'Case', action: 'list', user: { role: 'admin' } }),
        answers: 200,
        also: (reply) => expect(reply.at('data.0.status')).toBe(400),
      },
      { name: 'without requests', send: 'POST /api/batch', ...requests(), answers: 400 },
      {
        name: 'of too many requests',
        send: 'POST /api/batch',
        body: { requests: Array.from({ length: 101 }, () => ({ resource: 'Case', action: 'list' })) },
        answers: 413,
      },
      {
        name: 'of items that are not requests',
        send: 'POST /api/batch',
        ...requests(null, 'list', 5, []),
        answers: 200,
        also: (reply) => expect([0, 1, 2, 3].map((index) => reply.at(`data.${index}.status`))).toEqual([400, 400, 400, 400]),
      },
      { name: 'by GET', send: 'GET /api/batch', answers: [404, 405] },
    ],
    'refuses a batch ',
  );

  it('a batch decides and records each of its requests', async () => {
    const before = await target.decisions('limit=1000');
    const { bob, alice } = target.cases;
    const reply = await target.as(
      'alice',
      'POST',
      '/api/batch',
      requests(
        { resource: 'Case', action: 'read', id: alice },
        { resource: 'Case', action: 'read', id: bob },
        { resource: 'User', action: 'list' },
        { resource: 'Nothing', action: 'list' },
      ),
    );
    expect([0, 1, 2, 3].map((index) => reply.at(`data.${index}.status`))).toEqual([200, 403, 403, 404]);
    expect((await target.decisions('limit=1000')).length - before.length).toBe(3);
  });
});

describe('the audit log', () => {
  it.each([
    ['a denied read', 'alice', 'GET', '/api/Case/<bob>'],
    ['a list', 'alice', 'GET', '/api/Case'],
    ['a list denied for all', 'alice', 'GET', '/api/User'],
    ['a record that is not there', 'admin', 'GET', '/api/Case/nosuch'],
    ['an invalid create', 'alice', 'POST', '/api/Case'],
    ['an anonymous attempt', 'anon', 'POST', '/api/Case'],
    ['a refused admin call', 'alice', 'POST', '/admin/api/policies/test-access'],
  ] as const)('the audit log has one entry of %s', async (_name, caller, method, path) => {
    const before = await target.decisions('limit=1000');
    const reply = await target.as(caller, method, path.replace('<bob>', target.cases.bob), method === 'POST' ? { body: {} } : {});
    const after = await target.decisions('limit=1000');
    expect(after.length - before.length).toBe(1);
    expect(after[0]?.['id']).toBe(reply.headers['x-decision-id']);
  });

  it.each([
    ['a line break', 'id\r\nat: forged'],
    ['markup', '<script>alert(1)</script>'],
    ['length', 'x'.repeat(10_000)],
    ['a tab', 'a\tb'],
  ])('accepts no forged request id: %s', async (_name, value) => {
    const reply = await target.as('anon', 'GET', '/api/Case', { headers: { 'x-request-id': value.replaceAll('\r\n', '') } });
    expect([200, 400, 431]).toContain(reply.status);
    if (reply.status === 200) expect(reply.headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  });

  it('records the address of the peer, not of a header', async () => {
    const reply = await target.as('anon', 'GET', '/api/Case', {
      headers: { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9', 'x-real-ip': '203.0.113.9' },
    });
    const entry = await target.as('admin', 'GET', `/admin/api/decisions/${reply.headers['x-decision-id']}`);
    expect(entry.at('data.ip')).toBe('127.0.0.1');
  });
});
