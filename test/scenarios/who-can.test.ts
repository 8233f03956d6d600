/** Who can do something: roles, then users one by one; what depends on something says on what. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Reply } from '../harness.ts';
import { type AccessQueryService, type Row, startAccessQueryService, UNKNOWN_ID, WHO_CAN } from './access-query-service.ts';

let world: AccessQueryService;
beforeAll(async () => {
  world = await startAccessQueryService();
});
/** Each test begins with the policy of the first admin alone. */
beforeEach(() => world.forget());
afterAll(() => world.service.close());

const rolesIn = (reply: Reply): readonly (readonly unknown[])[] =>
  (reply.at('data.roles') as readonly Row[]).filter(({ role }) => role !== 'admin').map(({ role, effect, when }) => [role, effect, when]);
const usersIn = (reply: Reply): readonly (readonly unknown[])[] =>
  (reply.at('data.users') as readonly Row[])
    .filter(({ role }) => role !== 'admin')
    .map(({ name, effect, via, when }) => [name, effect, via, ...(when === undefined ? [] : [when])]);

const eq = (field: string, value: unknown): object => ({ field, operator: 'eq', value });
const OWN = eq('resource.authorId', `\${user.id}`);
const SPORTS = eq('user.department', 'sports');

describe('who can', () => {
  it('names roles and users with their rule, and nobody who is denied or not active', async () => {
    const id = await world.policy({
      name: 'Editing',
      role: 'editor',
      rules: [{ resource: 'Article', action: 'read', description: 'read all' }],
    });
    const reply = await world.ask({ resource: 'Article', action: 'read' });
    const rule = { id: expect.any(String), description: 'read all' };
    const editing = { id, name: 'Editing' };
    const full = expect.objectContaining({ name: 'Administrators: full access' });
    const byRole = { effect: 'allow', rule, policy: editing };
    expect(reply.body).toEqual({
      success: true,
      count: 3,
      data: {
        roles: [
          { role: 'admin', effect: 'allow', rule: expect.anything(), policy: full },
          { role: 'editor', ...byRole },
        ],
        users: [
          {
            id: world.admin.id,
            name: 'Admin',
            email: world.admin.email,
            role: 'admin',
            effect: 'allow',
            rule: expect.anything(),
            policy: full,
            via: 'role',
          },
          { id: world.idOf('maya'), name: 'maya', email: world.person('maya').email, role: 'editor', ...byRole, via: 'role' },
          { id: world.idOf('noor'), name: 'noor', email: world.person('noor').email, role: 'editor', ...byRole, via: 'role' },
        ],
      },
    });
  });

  it('says of roles what depends on the user, and decides it for each user', async () => {
    await world.policy({ role: 'user', rules: [{ resource: 'Article', action: 'read', conditions: [SPORTS] }] });
    const reply = await world.ask({ resource: 'Article', action: 'read', id: world.idOf('own') });
    expect(rolesIn(reply)).toEqual([['user', 'conditional', 'user.department eq "sports"']]);
    expect(usersIn(reply)).toEqual([['omar', 'allow', 'role']]);
  });

  it('knows the role itself, and that the moment is now', async () => {
    const conditions = [eq('user.role', 'user'), { field: 'environment.hour', operator: 'gte', value: 0 }];
    await world.policy({ roles: ['user', 'viewer'], rules: [{ resource: 'Article', action: 'read', conditions }] });
    expect(rolesIn(await world.ask({ resource: 'Article', action: 'read' }))).toEqual([['user', 'allow', undefined]]);
  });

  it('says what depends on the record, and decides it where one is named', async () => {
    await world.policy({ role: 'editor', rules: [{ resource: 'Article', action: 'update', conditions: [OWN] }] });
    const any = await world.ask({ resource: 'Article', action: 'update' });
    expect(rolesIn(any)).toEqual([['editor', 'conditional', `resource.authorId eq \${user.id}`]]);
    expect(usersIn(any)).toEqual([
      ['maya', 'conditional', 'role', `resource.authorId eq "${world.idOf('maya')}"`],
      ['noor', 'conditional', 'role', `resource.authorId eq "${world.idOf('noor')}"`],
    ]);
    const one = await world.ask({ resource: 'Article', action: 'update', id: world.idOf('own') });
    expect(rolesIn(one)).toEqual([['editor', 'conditional', `user.id eq "${world.idOf('maya')}"`]]);
    expect(usersIn(one)).toEqual([['maya', 'allow', 'role']]);
  });

  it('says what depends on the request, and on the address unless it is given', async () => {
    const conditions = [{ field: 'request.data.title', operator: 'exists', value: true }];
    const network = [{ field: 'environment.ip', operator: 'cidr', value: '10.0.0.0/8' }];
    await world.policy({
      userId: world.idOf('pia'),
      rules: [
        { resource: 'Article', action: 'create', conditions },
        { resource: 'Article', action: 'delete', conditions },
        { resource: 'Article', action: 'read', conditions: network },
        { resource: 'Article', action: 'update', conditions: [{ field: 'request.ip', operator: 'cidr', value: '10.0.0.0/8' }] },
      ],
    });
    const when = async (action: string, ip?: string): Promise<unknown> =>
      usersIn(await world.ask({ resource: 'Article', action, ...(ip !== undefined && { environment: { ip } }) }));
    expect(await when('create')).toEqual([['pia', 'conditional', 'user', 'request.data.title exists true']]);
    // A deletion sends no data.
    expect(await when('delete')).toEqual([]);
    expect(await when('read')).toEqual([['pia', 'conditional', 'user', 'environment.ip cidr "10.0.0.0/8"']]);
    expect(await when('read', '10.1.1.1')).toEqual([['pia', 'allow', 'user']]);
    expect(await when('read', '192.0.2.1')).toEqual([]);
    expect(await when('update')).toEqual([['pia', 'conditional', 'user', 'request.ip cidr "10.0.0.0/8"']]);
    expect(await when('update', '10.1.1.1')).toEqual([['pia', 'allow', 'user']]);
  });

  it('goes by the moment that is asked for: assignments expire, hours pass', async () => {
    const hours = [{ field: 'environment.hour', operator: 'lt', value: 12 }];
    const id = await world.policy({ rules: [{ resource: 'Article', action: 'read', conditions: hours }] });
    await world.send('POST', `/admin/api/policies/${id}/assign/user/${world.idOf('pia')}`, { expiresAt: '2999-01-01T00:00:00Z' });
    const at = async (timestamp: string) => usersIn(await world.ask({ resource: 'Article', action: 'read', environment: { timestamp } }));
    expect(await at('2998-12-31T10:00:00Z')).toEqual([['pia', 'allow', 'user']]);
    expect(await at('2998-12-31T13:00:00Z')).toEqual([]);
    expect(await at('2999-01-01T10:00:00Z')).toEqual([]);
  });

  it('tells an assignment of their own from one of the role', async () => {
    const id = await world.policy({ role: 'editor', userId: world.idOf('pia'), rules: [{ resource: 'Article', action: 'read' }] });
    await world.send('POST', `/admin/api/policies/${id}/assign/user/${world.idOf('maya')}`, {});
    expect(usersIn(await world.ask({ resource: 'Article', action: 'read' }))).toEqual([
      ['maya', 'allow', 'role'],
      ['noor', 'allow', 'role'],
      ['pia', 'allow', 'user'],
    ]);
  });

  it('takes secrets in the data for missing, as every decision does', async () => {
    const create = { resource: '*', action: 'create' };
    const data = (field: string): object => ({ ...create, conditions: [eq(`request.data.${field}`, 'x')] });
    await world.policy({ role: 'user', rules: [data('embargo')] });
    await world.policy({ role: 'editor', rules: [data('title')] });
    const reply = await world.ask({ resource: 'Article', action: 'create' });
    expect(rolesIn(reply)).toEqual([['editor', 'conditional', 'request.data.title eq "x"']]);
    expect(usersIn(reply).map(([name]) => name)).toEqual(['maya', 'noor']);
  });

  it('follows references of the user and of the record', async () => {
    const rule = { resource: 'Article', action: 'read' };
    await world.policy({
      role: 'user',
      rules: [{ ...rule, conditions: [eq('user.teamId.name', 'night'), eq('resource.authorId.department', 'sports')] }],
    });
    const reply = await world.ask({ ...rule, id: world.idOf('other') });
    expect(rolesIn(reply)).toEqual([['user', 'conditional', 'user.teamId.name eq "night"']]);
    expect(usersIn(reply)).toEqual([['quin', 'allow', 'role']]);
  });

  it('gives every user once, in pages of any size', async () => {
    await world.policy({ role: 'user', userId: world.idOf('noor'), rules: [{ resource: 'Team', action: 'read' }] });
    const whole = (await world.ask({ resource: 'Team', action: 'read', limit: 1000 })).at('data.users') as readonly Row[];
    expect(whole.map(({ id }) => id)).toEqual([world.admin.id, ...['noor', 'omar', 'pia', 'quin'].map(world.idOf)]);
    for (const limit of [1, 2, 3, 4, 5]) {
      const { seen, sizes } = await world.askAll({ resource: 'Team', action: 'read', limit });
      expect(seen).toEqual(whole);
      expect(sizes.slice(0, -1).every((size) => size === limit)).toBe(true);
    }
  });

  it('ends a page whose time is over, and goes on from there', async () => {
    await world.policy({ role: 'user', rules: [{ resource: 'Team', action: 'read' }] });
    const { seen: whole } = await world.askAll({ resource: 'Team', action: 'read' });
    let clock = 0;
    const now = vi.spyOn(performance, 'now').mockImplementation(() => (clock += 1000));
    const { seen, sizes } = await world.askAll({ resource: 'Team', action: 'read' }).finally(() => now.mockRestore());
    expect(seen).toEqual(whole);
    // One user is looked at each time, and one more page finds that nobody is left.
    expect(sizes).toEqual([1, 1, 1, 1, 0]);
  });

  it('leaves no entry and counts nowhere', async () => {
    const newest = async () => (await world.service.decisions('limit=1'))[0]?.['id'];
    const counts = async () => (await world.send('GET', '/admin/api/policies-analytics')).at('data');
    const before = [await newest(), await counts()];
    await world.ask({ resource: 'Article', action: 'read' });
    await world.send('POST', `/admin/api/users/${world.idOf('maya')}/permissions`, {});
    expect([await newest(), { ...((await counts()) as object), from: '' }]).toEqual([before[0], { ...(before[1] as object), from: '' }]);
  });
});

describe('a question that cannot be answered', () => {
  const good = { resource: 'Article', action: 'read' };
  const whoCan: readonly (readonly [what: string, body: unknown, status: number, has: object])[] = [
    [
      'an unknown resource',
      { ...good, resource: 'Artcle' },
      422,
      { errors: [{ path: 'resource', detail: 'no resource is named "Artcle" (did you mean "Article"?)' }] },
    ],
    ['one of ours', { ...good, resource: '_Policy' }, 422, { errors: [{ path: 'resource' }] }],
    ['a name that objects inherit', { ...good, resource: '__proto__' }, 422, { errors: [{ path: 'resource' }] }],
    [
      'an unknown action',
      { ...good, action: 'raed' },
      422,
      { errors: [{ path: 'action', detail: expect.stringContaining('did you mean "read"?') }] },
    ],
    ['nothing', {}, 422, { errors: [{ path: 'resource' }, { path: 'action' }] }],
    ['no object', [], 400, { code: 'REQUEST_MALFORMED' }],
    [
      'wrong types, all of them listed',
      { resource: 1, action: 2, id: 3, environment: 4, limit: '5', cursor: 6 },
      422,
      { errors: ['resource', 'id', 'action', 'environment', 'limit', 'cursor'].map((path) => ({ path })) },
    ],
    ['an unknown member', { ...good, recordId: 'x' }, 422, { errors: [{ path: 'recordId', code: 'unknown' }] }],
    ['an unknown value of the environment', { ...good, environment: { hour: 5 } }, 422, { errors: [{ path: 'environment.hour' }] }],
    ['no instant', { ...good, environment: { timestamp: 'now' } }, 422, { errors: [{ path: 'environment.timestamp' }] }],
    ['no address', { ...good, environment: { ip: 'here' } }, 422, { errors: [{ path: 'environment.ip' }] }],
    ...[0, 1001, 1.5, -1, null].map(
      (limit) => [`limit ${limit}`, { ...good, limit }, 422, { errors: [{ path: 'limit', code: 'range' }] }] as const,
    ),
    ...['', 'x', Buffer.from('user me').toString('base64url'), 'A'.repeat(10_000)].map(
      (cursor) => [`cursor ${cursor.slice(0, 20)}`, { ...good, cursor }, 400, { code: 'REQUEST_CURSOR' }] as const,
    ),
    ['a record that is not there', { ...good, id: UNKNOWN_ID }, 404, { code: 'RECORD_UNKNOWN' }],
  ];
  it.each(whoCan)('who can: %s', async (_, body, status, has) => {
    const reply = await world.send('POST', WHO_CAN, body);
    expect(reply.status, reply.text).toBe(status);
    expect(reply.body).toMatchObject({ success: false, ...has });
  });

  it('is for admins alone', async () => {
    const anon = await world.service.call('POST', WHO_CAN, { body: good });
    const other = await world.service.call('POST', WHO_CAN, { body: good, token: world.person('maya').token });
    expect([anon.status, anon.at('code'), other.status, other.at('code')]).toEqual([401, 'IDENTITY_REQUIRED', 403, 'ACCESS_ADMIN']);
  });
});
