/** The admin endpoints: envelopes, filters, defaults, and access control. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import type { Reply } from '../harness.ts';
import { startNewsroom } from './newsroom-service.ts';
import { checkScenarios, type Scenario, type ScenarioContext } from './scenario.ts';

// The tests of this file build on each other.
const it = createChain();

let stage: ScenarioContext;
beforeAll(async () => {
  stage = await startNewsroom();
});
afterAll(() => stage.service.close());

const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const rule = { resource: 'Article', action: 'read' };

const call = async (send: string, body?: unknown): Promise<Reply> => {
  const [method = '', path = ''] = send.split(' ');
  return stage.service.call(method, path, { token: stage.tokens.get('admin'), ...(body === undefined ? {} : { body }) });
};
const keysOf = (value: unknown): string[] => Object.keys(value as object).sort();

/** Every admin endpoint, with a valid body. */
const ENDPOINTS: readonly (readonly [send: string, body?: unknown])[] = [
  ['GET /admin/api/policies'],
  ['POST /admin/api/policies', { name: 'mine', type: 'CUSTOM', rules: [rule] }],
  [`GET /admin/api/policies/${UNKNOWN_ID}`],
  [`PUT /admin/api/policies/${UNKNOWN_ID}`, { isActive: false }],
  [`DELETE /admin/api/policies/${UNKNOWN_ID}`],
  [`POST /admin/api/policies/${UNKNOWN_ID}/assign/user/${UNKNOWN_ID}`, {}],
  [`PUT /admin/api/policies/${UNKNOWN_ID}/assign/user/${UNKNOWN_ID}`, {}],
  [`DELETE /admin/api/policies/${UNKNOWN_ID}/assign/user/${UNKNOWN_ID}`],
  [`POST /admin/api/policies/${UNKNOWN_ID}/assign/role/user`, {}],
  [`PUT /admin/api/policies/${UNKNOWN_ID}/assign/role/user`, {}],
  [`DELETE /admin/api/policies/${UNKNOWN_ID}/assign/role/user`],
  ['GET /admin/api/assignments'],
  ['POST /admin/api/assignments/batch', { changes: [{ op: 'assign', policyId: UNKNOWN_ID, role: 'viewer' }] }],
  [`GET /admin/api/policies/${UNKNOWN_ID}/assignments`],
  ['GET /admin/api/users'],
  [`GET /admin/api/users/${UNKNOWN_ID}/policies`],
  ['GET /admin/api/roles/user/policies'],
  ['POST /admin/api/policies/test-access', { resource: { name: 'Article' }, action: 'read' }],
  ['POST /admin/api/policies/who-can', { resource: 'Article', action: 'read' }],
  [`POST /admin/api/users/${UNKNOWN_ID}/permissions`, {}],
  ['POST /admin/api/roles/viewer/permissions', {}],
  [`POST /admin/api/policies/${UNKNOWN_ID}/test`, { resource: { name: 'Article' }, action: 'read' }],
  ['GET /admin/api/decisions'],
  [`GET /admin/api/decisions/${UNKNOWN_ID}`],
  ['GET /admin/api/decisions/histogram'],
  ['GET /admin/api/decisions/export'],
  ['GET /admin/api/decisions/stream'],
  ['GET /admin/api/policies-analytics'],
  ['GET /admin/api/policies-advice'],
  ['GET /admin/api/policies-templates'],
  ['GET /admin/api/catalogue'],
  ['GET /admin/api/system'],
];

describe('an admin endpoint', () => {
  checkScenarios(
    () => stage,
    ENDPOINTS.flatMap(([send, body]): Scenario[] => {
      const sent = body === undefined ? {} : { body };
      const refusal = { kind: 'admin', allowed: false, userId: '{maya}' };
      return [
        {
          name: `refuses an anonymous caller: ${send}`,
          send,
          ...sent,
          status: 401,
          body_has: { code: 'IDENTITY_REQUIRED' },
          headers_have: { 'www-authenticate': 'Bearer' },
        },
        {
          name: `refuses a user who is not an admin: ${send}`,
          as: 'maya',
          send,
          ...sent,
          status: 403,
          body_has: { code: 'ACCESS_ADMIN' },
          entries: [refusal],
        },
        {
          name: `rejects an unknown query parameter: ${send}`,
          as: 'admin',
          send: `${send}?nothing=1`,
          ...sent,
          status: 400,
          body_has: { errors: [{ path: 'nothing', code: 'unknown' }] },
        },
      ];
    }),
    it,
  );
});

describe('a policy in a response', () => {
  it('returns a policy with every documented member, with defaults filled in', async () => {
    const created = await call('POST /admin/api/policies', { name: 'Defaults', type: 'ROLE_BASED', rules: [rule] });
    expect(created.status).toBe(201);
    expect(keysOf(created.body)).toEqual(['data', 'message', 'success']);
    expect(created.headers['location']).toBe(`/admin/api/policies/${created.at('data.id')}`);
    expect(created.at('data')).toEqual({
      id: expect.any(String),
      name: 'Defaults',
      type: 'ROLE_BASED',
      rules: [
        {
          id: expect.any(String),
          policyId: created.at('data.id'),
          ...rule,
          effect: 'ALLOW',
          conditions: [],
          priority: 100,
          isActive: true,
          createdAt: expect.stringMatching(INSTANT),
        },
      ],
      isActive: true,
      priority: 100,
      createdBy: stage.kept.get('admin'),
      tags: [],
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: expect.stringMatching(INSTANT),
      version: expect.any(Number),
    });
    expect((await call(`GET /admin/api/policies/${created.at('data.id')}`)).body).toEqual({ success: true, data: created.at('data') });
  });

  it('keeps the given members of a policy, which can be sent back unchanged', async () => {
    const given = {
      name: 'Given',
      description: 'Said',
      type: 'CUSTOM',
      isActive: false,
      priority: -5,
      tags: ['a', 'b'],
      createdBy: 'someone else',
      rules: [
        {
          resource: '*',
          action: '*',
          effect: 'DENY',
          conditions: [{ field: 'hour', context: 'environment', operator: 'gte', value: 20 }],
          priority: 900,
          description: 'at night',
          isActive: false,
        },
      ],
    };
    const created = await call('POST /admin/api/policies', given);
    expect(created.at('data')).toMatchObject(given);
    const again = await call(`PUT /admin/api/policies/${created.at('data.id')}`, created.at('data'));
    expect(again.status, again.text).toBe(200);
    const withoutChange = (reply: typeof created) => ({ ...(reply.at('data') as object), updatedAt: '', version: 0 });
    expect(withoutChange(again)).toEqual(withoutChange(created));
  });

  it.each(['create', 'read', 'update', 'delete', 'list', 'export', 'import', '*'])('accepts a rule for action %s', async (action) => {
    const reply = await call('POST /admin/api/policies', {
      name: `on ${action}`,
      type: 'CUSTOM',
      rules: [{ resource: 'Article', action }],
    });
    expect(reply.status).toBe(201);
    expect((await call(`DELETE /admin/api/policies/${reply.at('data.id')}`)).body).toEqual({ success: true, message: expect.any(String) });
  });

  it('lists policies with a count, filtered by isActive and type', async () => {
    const count = async (query: string): Promise<unknown> => {
      const reply = await call(`GET /admin/api/policies${query}`);
      expect(keysOf(reply.body)).toEqual(['count', 'data', 'success']);
      expect((reply.at('data') as unknown[]).length).toBe(reply.at('count'));
      return reply.at('count');
    };
    expect(await count('')).toBe(3);
    expect(await count('?isActive=true')).toBe(2);
    expect(await count('?isActive=false')).toBe(1);
    expect(await count('?type=ROLE_BASED')).toBe(2);
    expect(await count('?type=ATTRIBUTE_BASED')).toBe(0);
    expect(await count('?type=CUSTOM&isActive=true')).toBe(0);
    expect((await call('GET /admin/api/policies?isActive=1')).status).toBe(400);
    expect((await call('GET /admin/api/policies?type=custom')).status).toBe(400);
  });
});

describe('an assignment in a response', () => {
  let policy: string;

  it('returns an assignment to a user with defaults, and keeps a given expiry and context', async () => {
    policy = String((await call('POST /admin/api/policies', { name: 'To assign', type: 'CUSTOM', rules: [rule] })).at('data.id'));
    const { kept } = stage;
    const first = await call(`POST /admin/api/policies/${policy}/assign/user/${kept.get('maya')}`);
    expect(first.status).toBe(201);
    expect(keysOf(first.body)).toEqual(['data', 'message', 'success']);
    expect(first.at('data')).toEqual({
      id: expect.any(String),
      userId: kept.get('maya'),
      policyId: policy,
      assignedBy: kept.get('admin'),
      assignedAt: expect.stringMatching(INSTANT),
      isActive: true,
      context: {},
      version: expect.any(Number),
    });
    const expiresAt = '2999-01-01T01:00:00+01:00';
    const second = await call(`POST /admin/api/policies/${policy}/assign/user/${kept.get('reader')}`, {
      expiresAt,
      context: { ticket: 7 },
    });
    expect(second.at('data')).toMatchObject({ expiresAt: '2999-01-01T00:00:00.000Z', context: { ticket: 7 } });
  });

  it.each(['anon', 'user', 'admin', 'moderator', 'viewer', 'editor'])(
    'returns an assignment to role %s with defaults, and changes it',
    async (role) => {
      const reply = await call(`POST /admin/api/policies/${policy}/assign/role/${role}`);
      expect(reply.status).toBe(201);
      expect(reply.at('data')).toEqual({
        id: expect.any(String),
        role,
        policyId: policy,
        assignedBy: stage.kept.get('admin'),
        assignedAt: expect.stringMatching(INSTANT),
        isActive: true,
        priority: 100,
        version: expect.any(Number),
      });
      const changed = await call(`PUT /admin/api/policies/${policy}/assign/role/${role}`, { priority: 7, isActive: false });
      expect(changed.at('data')).toMatchObject({ role, priority: 7, isActive: false });
    },
  );

  it.each([
    ['user', { expiresAt: 'soon' }, 'expiresAt'],
    ['user', { expiresAt: '2026-02-30T00:00:00Z' }, 'expiresAt'],
    ['user', { expiresAt: 5 }, 'expiresAt'],
    ['user', { context: [] }, 'context'],
    ['user', { isActive: 1 }, 'isActive'],
    ['user', { priority: 5 }, 'priority'],
    ['role', { priority: '5' }, 'priority'],
    ['role', { expiresAt: '2999-01-01T00:00:00Z' }, 'expiresAt'],
  ])('rejects an assignment to a %s with the body %j', async (to, body, path) => {
    const holder = to === 'user' ? stage.kept.get('admin') : 'viewer';
    const reply = await call(`POST /admin/api/policies/${policy}/assign/${to}/${holder}`, body);
    expect(reply.status).toBe(422);
    expect(reply.at('errors')).toMatchObject([{ path }]);
  });

  it('deletes the assignments of a deleted policy', async () => {
    const { kept } = stage;
    expect((await call(`DELETE /admin/api/policies/${policy}`)).status).toBe(200);
    expect((await call(`GET /admin/api/users/${kept.get('maya')}/policies`)).body).toEqual({ success: true, data: [], count: 0 });
    expect((await call('GET /admin/api/roles/viewer/policies')).at('count')).toBe(0);
  });
});

describe('analytics', () => {
  it('returns analytics with every documented member', async () => {
    const { service, tokens, kept } = stage;
    await service.call('GET', '/api/Tip', { token: tokens.get('maya') });
    const reply = await call('GET /admin/api/policies-analytics');
    expect(keysOf(reply.body)).toEqual(['data', 'success']);
    expect(keysOf(reply.at('data'))).toEqual([
      'accessDenials',
      'accessGrants',
      'activePolicies',
      'from',
      'policyTypes',
      'recentActivity',
      'topResources',
      'totalPolicies',
    ]);
    expect(keysOf(reply.at('data.policyTypes'))).toEqual(['ATTRIBUTE_BASED', 'CUSTOM', 'ROLE_BASED']);
    expect(reply.at('data.recentActivity.0')).toEqual({
      id: expect.any(String),
      at: expect.stringMatching(INSTANT),
      userId: kept.get('maya'),
      role: 'user',
      resource: 'Tip',
      action: 'list',
      allowed: false,
      reason: expect.any(String),
    });
    expect((reply.at('data.topResources') as { resource: string }[]).find(({ resource }) => resource === 'Tip')).toEqual({
      resource: 'Tip',
      grants: 0,
      denials: 1,
      total: 1,
    });
  });

  it.each(['1d', '30d', '12h', '2w'])('returns analytics for timeframe=%s', async (timeframe) => {
    const reply = await call(`GET /admin/api/policies-analytics?timeframe=${timeframe}`);
    expect(reply.status).toBe(200);
    expect(reply.at('data.accessDenials')).toBe(1);
  });

  it.each(['d', '7', '0d', '-1d', '7y', '1.5d', '99999999d', ''])('rejects analytics for timeframe=%s', async (timeframe) => {
    const reply = await call(`GET /admin/api/policies-analytics?timeframe=${timeframe}`);
    expect(reply.status).toBe(400);
    expect(reply.at('code')).toBe('REQUEST_PARAMETER');
  });
});

describe('templates', () => {
  it('returns at least ten templates, each with every documented member', async () => {
    const reply = await call('GET /admin/api/policies-templates');
    const templates = reply.at('data') as readonly object[];
    expect(templates.length).toBeGreaterThanOrEqual(10);
    for (const template of templates) expect(keysOf(template)).toEqual(['description', 'id', 'name', 'template', 'type']);
  });
});

describe('the catalogue', () => {
  it('returns 304 without a body for its current ETag', async () => {
    const send = (headers: Record<string, string>): Promise<Reply> =>
      stage.service.call('GET', '/admin/api/catalogue', { token: stage.tokens.get('admin'), headers });
    const first = await send({});
    const again = await send({ 'if-none-match': first.headers['etag'] ?? '' });
    expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', first.headers['etag']]);
  });
});

describe('access tests', () => {
  /** Request bodies with the paths of their mistakes. */
  const WRONG: readonly (readonly [body: unknown, paths: readonly string[]])[] = [
    [{}, ['resource', 'action']],
    [{ resource: { name: 'Article' } }, ['action']],
    [{ resource: { name: 'Artcle' }, action: 'read' }, ['resource.name']],
    [{ resource: { name: '_Policy' }, action: 'read' }, ['resource.name']],
    [{ resource: { name: 'Article' }, action: '*' }, ['action']],
    [{ resource: 'Article', action: 'read' }, ['resource']],
    [{ user: { id: 7 }, resource: { name: 'Article', id: {} }, action: 'read' }, ['user.id', 'resource.id']],
    [{ user: { role: 7 }, resource: { name: 'Article' }, action: 'read' }, ['user.role']],
    [{ resource: { name: 'Article', staus: 'draft' }, action: 'read' }, ['resource.staus']],
    [{ resource: { name: 'Article' }, action: 'read', environment: { timestamp: '2026-02-30T00:00:00Z' } }, ['environment.timestamp']],
    [{ resource: { name: 'Article' }, action: 'read', environment: { timestamp: '2026-01-01' } }, ['environment.timestamp']],
    [{ resource: { name: 'Article' }, action: 'read', environment: { ip: '300.1.1.1', hour: 3 } }, ['environment.hour', 'environment.ip']],
  ];
  it.each(WRONG)('rejects an access test with the body %j', async (body, paths) => {
    const reply = await call('POST /admin/api/policies/test-access', body);
    expect(reply.status, reply.text).toBe(400);
    expect((reply.at('errors') as { path: string }[]).map(({ path }) => path)).toEqual(paths);
  });

  it('names the policy that denied the request of an access test', async () => {
    const { service, kept } = stage;
    const context = { user: { id: kept.get('reader'), role: 'user' }, resource: { name: 'Comment' }, action: 'delete' };
    const rules = [{ resource: 'Comment', action: 'delete', effect: 'DENY', description: 'never' }];
    const policy = await service.createPolicy({ name: 'Deny', type: 'ROLE_BASED', userId: kept.get('reader') as string, rules });
    const tested = await call('POST /admin/api/policies/test-access', context);
    expect(tested.at('data')).toMatchObject({
      allowed: false,
      matchedPolicy: { id: policy, name: 'Deny' },
    });
    const alone = await call(`POST /admin/api/policies/${policy}/test`, context);
    expect(alone.at('data')).toMatchObject({
      allowed: false,
      evaluation: { matched: true, effect: 'DENY', policy: { id: policy, name: 'Deny', type: 'ROLE_BASED' } },
    });
  });

  it('an access test overrides stored values with its context and time, and is not counted by analytics', async () => {
    const { service, kept } = stage;
    const maya = kept.get('maya');
    const policy = await service.createPolicy({
      rules: [
        {
          ...rule,
          description: 'own department',
          conditions: [{ field: 'user.department', operator: 'eq', value: '${resource.department}' }],
        },
      ],
    });
    await call(`POST /admin/api/policies/${policy}/assign/user/${maya}`, { expiresAt: '2100-01-01T00:00:00Z' });
    const article = await service.createRecord('Article', { title: 'Here', slug: 'here', authorId: maya, department: 'politics' });
    const before = (await call('GET /admin/api/policies-analytics')).at('data.accessGrants');
    const testAccess = async (more: { user?: object; resource?: object; environment?: object }): Promise<unknown> => {
      const reply = await call('POST /admin/api/policies/test-access', {
        action: 'read',
        user: { id: maya, ...more.user },
        resource: { name: 'Article', id: article, ...more.resource },
        ...(more.environment === undefined ? {} : { environment: more.environment }),
      });
      expect(reply.status, reply.text).toBe(200);
      return reply.at('data.allowed');
    };
    expect(await testAccess({}), 'as stored').toBe(true);
    expect(await testAccess({ user: { department: 'sports' } }), 'another user').toBe(false);
    expect(await testAccess({ resource: { department: 'sports' } }), 'another record').toBe(false);
    expect(await testAccess({ user: { department: 'sports' }, resource: { department: 'sports' } }), 'both').toBe(true);
    expect(await testAccess({ environment: { timestamp: '2101-01-01T00:00:00Z' } }), 'after the assignment has expired').toBe(false);
    expect((await call('GET /admin/api/policies-analytics')).at('data.accessGrants')).toBe(before);
  });
});
