/** Setup of the first admin, login and logout, and the identity of a request. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { type Reply, type RunningService, startService } from '../harness.ts';
import { checkScenarios, type Scenario, type ScenarioContext } from './scenario.ts';

// The tests of this file build on each other.
const it = createChain();

const email = 'admin@example.com';
const password = 'correct horse battery';

describe('a service without an admin', () => {
  // These tests build on each other.
  const it = createChain();
  let service: RunningService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());

  it('every caller is anonymous before an admin exists, and every request is denied', async () => {
    const reply = await service.call('GET', '/api/User');
    expect(reply.status).toBe(403);
    expect(reply.at('code')).toBe('ACCESS_DENIED');
    expect((await service.call('GET', '/admin/api/policies')).status).toBe(401);
  });

  it.each([
    [{}, ['email', 'password', 'name']],
    [{ email: 'admin', password: 'short', name: '' }, ['email', 'password', 'name']],
    [{ email, password, name: 'A', role: 'admin' }, ['role']],
    [{ email: { $ne: null }, password, name: 'A' }, ['email']],
  ])('setup rejects the body %j', async (body, paths) => {
    const reply = await service.call('POST', '/auth/setup', { body });
    expect(reply.status).toBe(422);
    expect((reply.at('errors') as { path: string }[]).map(({ path }) => path).sort()).toEqual([...paths].sort());
  });

  it('setup creates the admin without a token, and only once', async () => {
    const reply = await service.call('POST', '/auth/setup', { body: { email: 'Admin@Example.com', password, name: 'Ada' } });
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      success: true,
      message: expect.any(String),
      user: { id: expect.any(String), email, name: 'Ada', role: 'admin' },
    });
    const again = await service.call('POST', '/auth/setup', { body: { email: 'eve@example.com', password, name: 'Eve' } });
    expect(again.status).toBe(409);
    expect(again.at('code')).toBe('IDENTITY_SETUP_DONE');
  });

  it('setup creates the policy of admins with an audit entry, and without it admins have no access', async () => {
    const token = await service.logIn(email, password);
    const policies = await service.call('GET', '/admin/api/policies', { token });
    expect(policies.at('data.0')).toMatchObject({
      name: 'Administrators: full access',
      rules: [{ resource: '*', action: '*', effect: 'ALLOW' }],
    });
    const entries = await service.call('GET', '/admin/api/decisions?kind=admin&resource=Policy', { token });
    expect(entries.at('data.0')).toMatchObject({ resource: 'Policy', action: 'create', allowed: true });
    expect((await service.call('GET', '/api/User', { token })).status).toBe(200);
    await service.call('DELETE', `/admin/api/policies/${policies.at('data.0.id')}`, { token });
    const denied = await service.call('GET', '/api/User', { token });
    expect(denied.status).toBe(403);
    expect(denied.at('code')).toBe('ACCESS_DENIED');
    expect((await service.call('GET', '/admin/api/policies', { token })).status, 'admin endpoints depend on the role alone').toBe(200);
  });
});

let stage: ScenarioContext;
beforeAll(async () => {
  const service = await startService();
  const admin = await service.admin();
  const user = await service.user({ name: 'Uma' });
  await service.createPolicy({
    role: 'user',
    rules: [
      { resource: 'User', action: 'read', conditions: [{ field: 'resource.id', operator: 'eq', value: '${user.id}' }] },
      { resource: 'User', action: 'update', conditions: [{ field: 'resource.id', operator: 'eq', value: '${user.id}' }] },
    ],
  });
  stage = {
    service,
    tokens: new Map([
      ['admin', admin.token],
      ['user', user.token],
    ]),
    kept: new Map([
      ['admin', admin.id],
      ['user', user.id],
      ['email', user.email],
    ]),
  };
});
afterAll(() => stage.service.close());

describe('authentication', () => {
  const tokens = {
    success: true,
    tokenType: 'Bearer',
    expiresIn: 3600,
    user: { id: '{user}', email: '{email}', name: 'Uma', role: 'user' },
  };
  const entry = (action: string, members: object): object => ({ kind: 'auth', resource: 'Auth', action, ip: '127.0.0.1', ...members });
  const ofUser = (action: string): readonly object[] => [entry(action, { allowed: true, userId: '{user}', role: 'user' })];
  const refused = (name: string, body: object): Scenario => {
    const outcome = 'IDENTITY_CREDENTIALS';
    return {
      name,
      send: 'POST /auth/login',
      body,
      status: 401,
      body_has: { code: outcome },
      entries: [entry('login', { allowed: false, role: 'anon', outcome })],
    };
  };
  checkScenarios(
    () => stage,
    [
      {
        name: 'logs in a user by email and password',
        send: 'POST /auth/login',
        body: { email: '{email}', password },
        status: 200,
        body_has: tokens,
        headers_have: { 'cache-control': 'no-store' },
        keep: { refresh: 'refreshToken' },
        entries: ofUser('login'),
      },
      {
        name: 'ignores the case of the email at a login',
        send: 'POST /auth/login',
        body: { email: 'USER1@example.com', password },
        status: 200,
        body_has: tokens,
        entries: ofUser('login'),
      },
      refused('refuses a login with a wrong password', { email: '{email}', password: 'wrong horse battery' }),
      refused('refuses a login with an unknown email, with the same code', { email: 'unknown@example.com', password }),
      {
        name: 'rejects a login without a password',
        send: 'POST /auth/login',
        body: { email: '{email}' },
        status: 400,
        body_has: { errors: [{ path: 'password', code: 'required' }] },
      },
      {
        name: 'returns new tokens for a refresh token',
        send: 'POST /auth/refresh',
        body: { refreshToken: '{refresh}' },
        status: 200,
        body_has: tokens,
        keep: { refreshed: 'refreshToken' },
        entries: ofUser('refresh'),
      },
      {
        name: 'refuses a refresh token that was used before',
        send: 'POST /auth/refresh',
        body: { refreshToken: '{refresh}' },
        status: 401,
        body_has: { code: 'IDENTITY_TOKEN', detail: 'the refresh token is not valid' },
        entries: [
          entry('refresh', {
            allowed: false,
            userId: '{user}',
            outcome: 'IDENTITY_TOKEN',
            reason: 'the refresh token was used twice, so its session was ended',
          }),
        ],
      },
      {
        name: 'refuses every refresh token of a login after one was used twice',
        send: 'POST /auth/refresh',
        body: { refreshToken: '{refreshed}' },
        status: 401,
        entries: [entry('refresh', { allowed: false, outcome: 'IDENTITY_TOKEN', reason: 'the refresh token is not valid' })],
      },
      {
        name: 'returns the own account to a user',
        as: 'user',
        send: 'GET /auth/me',
        status: 200,
        body_has: { data: { id: '{user}', name: 'Uma', role: 'user', isActive: true } },
        body_lacks: ['data.password'],
      },
      {
        name: 'does not return an account without a token',
        send: 'GET /auth/me',
        status: 401,
        headers_have: { 'www-authenticate': 'Bearer' },
        body_has: { code: 'IDENTITY_REQUIRED' },
      },
      { name: 'refuses a logout without a token', send: 'POST /auth/logout', status: 401 },
    ],
    it,
  );

  it('a logout revokes both tokens', async () => {
    const { service, kept } = stage;
    const login = await service.call('POST', '/auth/login', { body: { email: kept.get('email'), password } });
    const token = String(login.at('token'));
    expect((await service.call('POST', '/auth/logout', { token })).body).toEqual({ success: true, message: expect.any(String) });
    const [loggedOut, loggedIn] = await service.decisions('kind=auth&limit=3');
    expect(loggedOut).toMatchObject({ action: 'logout', allowed: true, userId: kept.get('user'), recordId: loggedIn?.['recordId'] });
    expect((await service.call('GET', '/auth/me', { token })).status).toBe(401);
    const [refused] = await service.decisions('kind=auth&action=token&limit=1');
    expect(refused).toMatchObject({ allowed: false, userId: kept.get('user'), reason: 'the session of this token has ended' });
    expect((await service.call('POST', '/auth/refresh', { body: { refreshToken: login.at('refreshToken') } })).status).toBe(401);
  });
});

describe('an invalid token', () => {
  checkScenarios(
    () => stage,
    ['Bearer nonsense', 'Bearer a.b.c', 'Basic YTpi', 'Bearer'].map((authorization, index): Scenario => {
      const outcome = 'IDENTITY_TOKEN';
      return {
        name: `refuses the header "${authorization}" with 401, and does not treat the caller as anonymous`,
        send: 'GET /api/User',
        headers: { authorization },
        status: 401,
        headers_have: { 'www-authenticate': 'Bearer error="invalid_token", error_description="the token is not valid"' },
        body_has: { code: outcome },
        // The second and the fourth header are refused for the same reason as the header before, in the same minute.
        entries: index % 2 === 0 ? [{ kind: 'auth', action: 'token', allowed: false, role: 'anon', outcome, userId: undefined }] : [],
      };
    }),
    it,
  );
});

/** Changes after which an admin can administer nothing. */
const WAYS_OUT = [{ role: 'user' }, { isActive: false }, { password: null, currentPassword: password }];

describe('users', () => {
  checkScenarios(
    () => stage,
    [
      {
        name: 'an email that another user has is rejected, even in another case',
        as: 'admin',
        send: 'POST /api/User',
        body: { name: 'Two', email: 'USER1@example.com', password },
        status: 409,
        body_has: { code: 'RECORD_EXISTS', errors: [{ path: 'email', code: 'taken' }] },
        entries: [{ resource: 'User', action: 'create', outcome: 'RECORD_EXISTS' }],
      },
      {
        name: 'an unknown role is rejected',
        as: 'admin',
        send: 'POST /api/User',
        body: { email: 'role@example.com', role: 'editor' },
        status: 422,
        body_has: { errors: [{ path: 'role', code: 'enum' }] },
        entries: [{ outcome: 'VALUE_INVALID' }],
      },
      {
        name: 'a user receives the own account without the password',
        as: 'user',
        send: 'GET /api/User/{user}',
        status: 200,
        body_has: { data: { id: '{user}', name: 'Uma', email: '{email}', role: 'user', isActive: true } },
        body_lacks: ['data.password'],
        entries: [{ resource: 'User', action: 'read', allowed: true }],
      },
      {
        name: 'a user changes the own name',
        as: 'user',
        send: 'PUT /api/User/{user}',
        body: { name: 'Uma B.' },
        status: 200,
        body_has: { data: { name: 'Uma B.' } },
        entries: [{ action: 'update', allowed: true, facts: { fields: ['name'] } }],
      },
      ...[{ role: 'admin' }, { isActive: false }, { role: null }].map((body): Scenario => {
        return {
          name: `a user who may update the own account may not set ${JSON.stringify(body)}`,
          as: 'user',
          send: 'PUT /api/User/{user}',
          body,
          status: 422,
          body_has: { errors: [{ path: Object.keys(body)[0] }] },
          entries: [{ action: 'update', allowed: true, outcome: 'VALUE_INVALID' }],
        };
      }),
      ...(['PUT', 'DELETE'] as const).flatMap((method): Scenario[] =>
        (method === 'PUT' ? WAYS_OUT : [undefined]).map((body) => ({
          name: `the last active admin cannot be removed: ${method} ${JSON.stringify(body) ?? ''}`,
          as: 'admin',
          send: `${method} /api/User/{admin}`,
          ...(body === undefined ? {} : { body }),
          status: 409,
          body_has: { code: 'IDENTITY_LAST_ADMIN' },
          entries: [{ resource: 'User', recordId: '{admin}', allowed: true, outcome: 'IDENTITY_LAST_ADMIN' }],
        })),
      ),
      {
        name: 'an admin may be created without a password',
        as: 'admin',
        send: 'POST /api/User',
        body: { email: 'silent@example.com', role: 'admin' },
        status: 201,
        keep: { silent: 'data.id' },
        entries: [{ action: 'create', allowed: true }],
      },
      {
        name: 'an admin without a password does not replace the last active admin',
        as: 'admin',
        send: 'PUT /api/User/{admin}',
        body: { role: 'user' },
        status: 409,
        body_has: { code: 'IDENTITY_LAST_ADMIN' },
        entries: [{ recordId: '{admin}', allowed: true, outcome: 'IDENTITY_LAST_ADMIN' }],
      },
      {
        name: 'an admin without a password may be deleted',
        as: 'admin',
        send: 'DELETE /api/User/{silent}',
        status: 200,
        entries: [{ recordId: '{silent}', action: 'delete', allowed: true }],
      },
    ],
    it,
  );

  /** Changes of a user by an admin, with the status that the user's token receives afterwards. */
  const CHANGES: readonly (readonly [change: string, method: string, body: object | undefined, status: number])[] = [
    ['demotes', 'PUT', { role: 'anon' }, 403],
    ['deactivates', 'PUT', { isActive: false }, 401],
    ['sets the password of', 'PUT', { password: 'another horse battery' }, 401],
    ['deletes', 'DELETE', undefined, 401],
  ];
  it.each(CHANGES)('an admin who %s a user affects existing tokens at once', async (_change, method, body, status) => {
    const { service, tokens } = stage;
    const { id, token } = await service.user();
    const read = (): Promise<Reply> => service.call('GET', `/api/User/${id}`, { token });
    expect((await read()).status).toBe(200);
    const changed = await service.call(method, `/api/User/${id}`, { token: tokens.get('admin'), ...(body === undefined ? {} : { body }) });
    expect(changed.status, changed.text).toBe(200);
    expect((await read()).status).toBe(status);
  });
});
