import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { startNewsroom } from './newsroom-service.ts';
import { checkScenarios, type ScenarioContext } from './scenario.ts';

// The tests of this file build on each other.
const it = createChain();

let context: ScenarioContext;
beforeAll(async () => {
  context = await startNewsroom();
});
afterAll(() => context.service.close());

const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';

describe('policies over HTTP', () => {
  checkScenarios(
    () => context,
    [
      {
        name: 'a request for policies without a token is refused',
        send: 'GET /admin/api/policies',
        status: 401,
        body_has: { code: 'IDENTITY_REQUIRED' },
      },
      {
        name: 'a request for policies by a user is refused, with an audit entry',
        as: 'maya',
        send: 'GET /admin/api/policies',
        status: 403,
        body_has: { code: 'ACCESS_ADMIN' },
        entries: [{ kind: 'admin', allowed: false, userId: '{maya}' }],
      },
      {
        name: 'a list of policies includes the policy that setup created',
        as: 'admin',
        send: 'GET /admin/api/policies',
        status: 200,
        body_has: { count: 1, data: [{ name: 'Administrators: full access', type: 'ROLE_BASED', createdBy: '{admin}' }] },
      },
      {
        name: 'a create of a policy fills defaults, and sets createdBy to the admin',
        as: 'admin',
        send: 'POST /admin/api/policies',
        body: {
          name: 'Editors of drafts',
          description: 'Drafts of the own department',
          type: 'ATTRIBUTE_BASED',
          rules: [
            {
              resource: 'Article',
              action: 'update',
              conditions: [
                { field: 'department', context: 'user', operator: 'eq', value: '${resource.department}' },
                { field: 'resource.status', operator: 'eq', value: 'draft' },
              ],
            },
          ],
          tags: ['editing'],
        },
        status: 201,
        body_has: {
          data: {
            priority: 100,
            isActive: true,
            createdBy: '{admin}',
            tags: ['editing'],
            rules: [{ effect: 'ALLOW', priority: 100, isActive: true, resource: 'Article', action: 'update' }],
          },
        },
        keep: { policy: 'data.id', rule: 'data.rules.0.id' },
        entries: [{ kind: 'admin', resource: 'Policy', action: 'create', recordId: '{policy}', allowed: true }],
      },
      {
        name: 'a create of a policy with an existing name is refused',
        as: 'admin',
        send: 'POST /admin/api/policies',
        body: { name: 'Editors of drafts', type: 'CUSTOM', rules: [{ resource: '*', action: 'read' }] },
        status: 409,
        body_has: { code: 'POLICY_EXISTS' },
      },
      {
        name: 'a create of a policy with six mistakes lists six errors, each with its path',
        as: 'admin',
        send: 'POST /admin/api/policies',
        body: {
          name: '',
          type: 'ROLE_BASD',
          priority: 'high',
          rules: [
            {
              resource: 'Article',
              action: 'destroy',
              effect: 'PERMIT',
              conditions: [{ field: 'resource.titel', operator: 'eq', value: 'x' }],
            },
          ],
        },
        status: 422,
        body_has: {
          code: 'POLICY_INVALID',
          errors: [
            { path: 'name', code: 'tooShort' },
            { path: 'type', code: 'enum' },
            { path: 'rules.0.action', code: 'enum' },
            { path: 'rules.0.effect', code: 'enum' },
            { path: 'priority', code: 'type' },
            { path: 'rules.0.conditions.0.field', code: 'field' },
          ],
        },
      },
      {
        name: 'a create of a policy for an unknown resource has a warning',
        as: 'admin',
        send: 'POST /admin/api/policies',
        body: { name: 'Ahead of its time', type: 'ROLE_BASED', rules: [{ resource: 'Podcast', action: 'read' }], isActive: false },
        status: 201,
        body_has: { warnings: [{ path: 'rules.0.resource' }] },
        keep: { ahead: 'data.id' },
        entries: [{ kind: 'admin', action: 'create' }],
      },
      {
        name: 'a read of a policy returns it',
        as: 'admin',
        send: 'GET /admin/api/policies/{policy}',
        status: 200,
        body_has: { data: { id: '{policy}' } },
      },
      {
        name: 'a read of a missing policy is refused',
        as: 'admin',
        send: `GET /admin/api/policies/${UNKNOWN_ID}`,
        status: 404,
        body_has: { code: 'POLICY_UNKNOWN' },
      },
      {
        name: 'a list of policies can be filtered',
        as: 'admin',
        send: 'GET /admin/api/policies?isActive=false&type=ROLE_BASED',
        status: 200,
        body_has: { count: 1, data: [{ id: '{ahead}' }] },
      },
      {
        name: 'a list of policies with an unknown parameter is refused',
        as: 'admin',
        send: 'GET /admin/api/policies?isactive=true',
        status: 400,
        body_has: { code: 'REQUEST_PARAMETER' },
      },
      {
        name: 'an update of a policy changes only the given members',
        as: 'admin',
        send: 'PUT /admin/api/policies/{policy}',
        body: { name: 'Editors: drafts', isActive: false },
        status: 200,
        body_has: {
          data: { name: 'Editors: drafts', isActive: false, priority: 100, rules: [{ id: '{rule}' }] },
        },
        entries: [{ kind: 'admin', action: 'update', recordId: '{policy}' }],
      },
      {
        name: 'an update of a missing policy is refused',
        as: 'admin',
        send: `PUT /admin/api/policies/${UNKNOWN_ID}`,
        body: { isActive: true },
        status: 404,
      },
      {
        name: 'a delete of a policy removes it',
        as: 'admin',
        send: 'DELETE /admin/api/policies/{ahead}',
        status: 200,
        entries: [{ kind: 'admin', action: 'delete', recordId: '{ahead}' }],
      },
      { name: 'a second delete of a policy is refused', as: 'admin', send: 'DELETE /admin/api/policies/{ahead}', status: 404 },
    ],
    it,
  );

  it('every template is accepted unchanged', async () => {
    const token = context.tokens.get('admin');
    const templates = (await context.service.call('GET', '/admin/api/policies-templates', { token })).at('data') as {
      id: string;
      template: object;
    }[];
    expect(templates.length).toBeGreaterThanOrEqual(10);
    for (const { template } of templates) {
      const reply = await context.service.call('POST', '/admin/api/policies', { token, body: template });
      expect(reply.status, reply.text).toBe(201);
      await context.service.call('DELETE', `/admin/api/policies/${reply.at('data.id')}`, { token });
    }
  });
});

describe('assignments over HTTP', () => {
  checkScenarios(
    () => context,
    [
      {
        name: 'a policy is assigned to a user with an expiry',
        as: 'admin',
        send: 'POST /admin/api/policies/{policy}/assign/user/{maya}',
        body: { expiresAt: '2999-01-01T00:00:00Z' },
        status: 201,
        body_has: {
          data: { userId: '{maya}', policyId: '{policy}', assignedBy: '{admin}', isActive: true, expiresAt: '2999-01-01T00:00:00.000Z' },
        },
        entries: [{ kind: 'admin', resource: 'UserPolicy', action: 'create' }],
      },
      {
        name: 'a second assignment to a user is refused',
        as: 'admin',
        send: 'POST /admin/api/policies/{policy}/assign/user/{maya}',
        status: 409,
        body_has: { code: 'ASSIGNMENT_EXISTS' },
      },
      {
        name: 'an assignment to a missing user is refused',
        as: 'admin',
        send: `POST /admin/api/policies/{policy}/assign/user/${UNKNOWN_ID}`,
        status: 404,
        body_has: { code: 'USER_UNKNOWN' },
      },
      {
        name: 'an assignment of a missing policy is refused',
        as: 'admin',
        send: `POST /admin/api/policies/${UNKNOWN_ID}/assign/user/{maya}`,
        status: 404,
        body_has: { code: 'POLICY_UNKNOWN' },
      },
      {
        name: 'a policy is assigned to a role',
        as: 'admin',
        send: 'POST /admin/api/policies/{policy}/assign/role/editor',
        body: { priority: 250 },
        status: 201,
        body_has: { data: { role: 'editor', priority: 250 } },
        entries: [{ kind: 'admin', resource: 'RolePolicy', action: 'create' }],
      },
      {
        name: 'a second assignment to a role is refused',
        as: 'admin',
        send: 'POST /admin/api/policies/{policy}/assign/role/editor',
        status: 409,
      },
      {
        name: 'an assignment to an unknown role is refused',
        as: 'admin',
        send: 'POST /admin/api/policies/{policy}/assign/role/edtor',
        status: 422,
        body_has: { code: 'VALUE_INVALID' },
      },
      {
        name: 'an assignment with an invalid expiry is refused',
        as: 'admin',
        send: 'POST /admin/api/policies/{policy}/assign/user/{reader}',
        body: { expiresAt: 'soon' },
        status: 422,
      },
      {
        name: "a list of a user's policies has the assignments to the user",
        as: 'admin',
        send: 'GET /admin/api/users/{maya}/policies',
        status: 200,
        body_has: { count: 1, data: [{ id: '{policy}', assignment: { userId: '{maya}' } }] },
      },
      {
        name: "a list of a user's policies can include those of the role",
        as: 'admin',
        send: 'GET /admin/api/users/{maya}/policies?role=editor',
        status: 200,
        body_has: { count: 2 },
      },
      {
        name: "a list of a role's policies has the assignments to the role",
        as: 'admin',
        send: 'GET /admin/api/roles/editor/policies',
        status: 200,
        body_has: { count: 1 },
      },
      {
        name: 'an update of an assignment changes it',
        as: 'admin',
        send: 'PUT /admin/api/policies/{policy}/assign/user/{maya}',
        body: { isActive: false, expiresAt: null },
        status: 200,
        body_has: { data: { isActive: false } },
        entries: [{ kind: 'admin', resource: 'UserPolicy', action: 'update' }],
      },
      {
        name: 'a delete of an assignment removes it',
        as: 'admin',
        send: 'DELETE /admin/api/policies/{policy}/assign/role/editor',
        status: 200,
        entries: [{ kind: 'admin', resource: 'RolePolicy', action: 'delete' }],
      },
      {
        name: 'a second delete of an assignment is refused',
        as: 'admin',
        send: 'DELETE /admin/api/policies/{policy}/assign/role/editor',
        status: 404,
        body_has: { code: 'ASSIGNMENT_UNKNOWN' },
      },
    ],
    it,
  );
});

describe('the state of a policy', () => {
  it('applies at once that a policy, rule or assignment is inactive or expired', async () => {
    const { service, tokens, kept } = context;
    const admin = tokens.get('admin');
    const id = await service.createPolicy({
      name: 'readers read users',
      userId: kept.get('reader') as string,
      rules: [{ resource: 'User', action: 'list' }],
    });
    const path = `/admin/api/policies/${id}`;
    const assignment = `${path}/assign/user/${kept.get('reader')}`;
    const list = async () => (await service.call('GET', '/api/User', { token: tokens.get('reader') })).status;
    const put = (to: string, body: object) => service.call('PUT', to, { token: admin, body });
    expect(await list()).toBe(200);
    await put(path, { isActive: false });
    expect(await list()).toBe(403);
    await put(path, { isActive: true });
    expect(await list()).toBe(200);
    await put(path, { rules: [{ resource: 'User', action: 'list', isActive: false }] });
    expect(await list()).toBe(403);
    await put(path, { rules: [{ resource: '*', action: '*' }] });
    expect(await list()).toBe(200);
    await put(assignment, { expiresAt: new Date(Date.now() - 1000).toISOString() });
    expect(await list()).toBe(403);
    expect(await listUntilExpired(list, (expiresAt) => put(assignment, { expiresAt }))).toEqual([200, 403]);
    await put(assignment, { expiresAt: null });
    expect(await list()).toBe(200);
    await service.call('DELETE', path, { token: admin });
    expect(await list()).toBe(403);
  });
});

/** Lists before and after an expiry. Expires later if the machine was too busy to answer before. */
async function listUntilExpired(list: () => Promise<number>, expireAt: (time: string) => Promise<unknown>): Promise<readonly number[]> {
  for (let milliseconds = 500; ; milliseconds *= 2) {
    const expires = Date.now() + milliseconds;
    await expireAt(new Date(expires).toISOString());
    const before = await list();
    if (Date.now() >= expires) continue;
    await new Promise((resolve) => setTimeout(resolve, expires - Date.now() + 50));
    return [before, await list()];
  }
}
