/** The who-can query: roles first, then users. A result may be conditional. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withFastClock } from '../fast-clock.ts';
import type { Reply } from '../harness.ts';
import { type AccessQueryService, type Row, startAccessQueryService, UNKNOWN_ID, WHO_CAN } from './access-query-service.ts';

let newsroom: AccessQueryService;
beforeAll(async () => {
  newsroom = await startAccessQueryService();
});
/** Each test starts with only the policy of the first admin. */
beforeEach(() => newsroom.forget());
afterAll(() => newsroom.service.close());

const rolesIn = (reply: Reply): readonly (readonly unknown[])[] =>
  (reply.at('data.roles') as readonly Row[]).filter(({ role }) => role !== 'admin').map(({ role, effect, when }) => [role, effect, when]);
const usersIn = (reply: Reply): readonly (readonly unknown[])[] =>
  (reply.at('data.users') as readonly Row[])
    .filter(({ role }) => role !== 'admin')
    .map(({ name, effect, via, when }) => [name, effect, via, ...(when === undefined ? [] : [when])]);

const eq = (field: string, value: unknown): object => ({ field, operator: 'eq', value });
const OWN = eq('resource.authorId', `\${user.id}`);
const SPORTS = eq('user.department', 'sports');

describe('who-can', () => {
  it('lists roles and users with their rule, without denied and inactive users', async () => {
    const id = await newsroom.policy({
      name: 'Editing',
      role: 'editor',
      rules: [{ resource: 'Article', action: 'read', description: 'read all' }],
    });
    const reply = await newsroom.ask({ resource: 'Article', action: 'read' });
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
            id: newsroom.admin.id,
            name: 'Admin',
            email: newsroom.admin.email,
            role: 'admin',
            effect: 'allow',
            rule: expect.anything(),
            policy: full,
            via: 'role',
          },
          { id: newsroom.idOf('maya'), name: 'maya', email: newsroom.person('maya').email, role: 'editor', ...byRole, via: 'role' },
          { id: newsroom.idOf('noor'), name: 'noor', email: newsroom.person('noor').email, role: 'editor', ...byRole, via: 'role' },
        ],
      },
    });
  });

  it('shows a condition on the user for roles, and decides it for each user', async () => {
    await newsroom.policy({ role: 'user', rules: [{ resource: 'Article', action: 'read', conditions: [SPORTS] }] });
    const reply = await newsroom.ask({ resource: 'Article', action: 'read', id: newsroom.idOf('own') });
    expect(rolesIn(reply)).toEqual([['user', 'conditional', 'user.department eq "sports"']]);
    expect(usersIn(reply)).toEqual([['omar', 'allow', 'role']]);
  });

  it('evaluates conditions on the role and on the current time', async () => {
    const conditions = [eq('user.role', 'user'), { field: 'environment.hour', operator: 'gte', value: 0 }];
    await newsroom.policy({ roles: ['user', 'viewer'], rules: [{ resource: 'Article', action: 'read', conditions }] });
    expect(rolesIn(await newsroom.ask({ resource: 'Article', action: 'read' }))).toEqual([['user', 'allow', undefined]]);
  });

  it('shows a condition on the record, and decides it for a given record', async () => {
    await newsroom.policy({ role: 'editor', rules: [{ resource: 'Article', action: 'update', conditions: [OWN] }] });
    const any = await newsroom.ask({ resource: 'Article', action: 'update' });
    expect(rolesIn(any)).toEqual([['editor', 'conditional', `resource.authorId eq \${user.id}`]]);
    expect(usersIn(any)).toEqual([
      ['maya', 'conditional', 'role', `resource.authorId eq "${newsroom.idOf('maya')}"`],
      ['noor', 'conditional', 'role', `resource.authorId eq "${newsroom.idOf('noor')}"`],
    ]);
    const one = await newsroom.ask({ resource: 'Article', action: 'update', id: newsroom.idOf('own') });
    expect(rolesIn(one)).toEqual([['editor', 'conditional', `user.id eq "${newsroom.idOf('maya')}"`]]);
    expect(usersIn(one)).toEqual([['maya', 'allow', 'role']]);
  });

  it('shows a condition on the request, and on the address unless it is given', async () => {
    const conditions = [{ field: 'request.data.title', operator: 'exists', value: true }];
    const network = [{ field: 'environment.ip', operator: 'cidr', value: '10.0.0.0/8' }];
    await newsroom.policy({
      userId: newsroom.idOf('pia'),
      rules: [
        { resource: 'Article', action: 'create', conditions },
        { resource: 'Article', action: 'delete', conditions },
        { resource: 'Article', action: 'read', conditions: network },
        { resource: 'Article', action: 'update', conditions: [{ field: 'request.ip', operator: 'cidr', value: '10.0.0.0/8' }] },
      ],
    });
    const when = async (action: string, ip?: string): Promise<unknown> =>
      usersIn(await newsroom.ask({ resource: 'Article', action, ...(ip !== undefined && { environment: { ip } }) }));
    expect(await when('create')).toEqual([['pia', 'conditional', 'user', 'request.data.title exists true']]);
    // A deletion has no data.
    expect(await when('delete')).toEqual([]);
    expect(await when('read')).toEqual([['pia', 'conditional', 'user', 'environment.ip cidr "10.0.0.0/8"']]);
    expect(await when('read', '10.1.1.1')).toEqual([['pia', 'allow', 'user']]);
    expect(await when('read', '192.0.2.1')).toEqual([]);
    expect(await when('update')).toEqual([['pia', 'conditional', 'user', 'request.ip cidr "10.0.0.0/8"']]);
    expect(await when('update', '10.1.1.1')).toEqual([['pia', 'allow', 'user']]);
  });

  it('uses the given time for expiry and time conditions', async () => {
    const hours = [{ field: 'environment.hour', operator: 'lt', value: 12 }];
    const id = await newsroom.policy({ rules: [{ resource: 'Article', action: 'read', conditions: hours }] });
    await newsroom.send('POST', `/admin/api/policies/${id}/assign/user/${newsroom.idOf('pia')}`, { expiresAt: '2999-01-01T00:00:00Z' });
    const at = async (timestamp: string) =>
      usersIn(await newsroom.ask({ resource: 'Article', action: 'read', environment: { timestamp } }));
    expect(await at('2998-12-31T10:00:00Z')).toEqual([['pia', 'allow', 'user']]);
    expect(await at('2998-12-31T13:00:00Z')).toEqual([]);
    expect(await at('2999-01-01T10:00:00Z')).toEqual([]);
  });

  it('distinguishes assignments to a user and to a role', async () => {
    const id = await newsroom.policy({ role: 'editor', userId: newsroom.idOf('pia'), rules: [{ resource: 'Article', action: 'read' }] });
    await newsroom.send('POST', `/admin/api/policies/${id}/assign/user/${newsroom.idOf('maya')}`, {});
    expect(usersIn(await newsroom.ask({ resource: 'Article', action: 'read' }))).toEqual([
      ['maya', 'allow', 'role'],
      ['noor', 'allow', 'role'],
      ['pia', 'allow', 'user'],
    ]);
  });

  it('treats secret fields in the data as missing, like every decision', async () => {
    const create = { resource: '*', action: 'create' };
    const data = (field: string): object => ({ ...create, conditions: [eq(`request.data.${field}`, 'x')] });
    await newsroom.policy({ role: 'user', rules: [data('embargo')] });
    await newsroom.policy({ role: 'editor', rules: [data('title')] });
    const reply = await newsroom.ask({ resource: 'Article', action: 'create' });
    expect(rolesIn(reply)).toEqual([['editor', 'conditional', 'request.data.title eq "x"']]);
    expect(usersIn(reply).map(([name]) => name)).toEqual(['maya', 'noor']);
  });

  it('follows references of the user and the record', async () => {
    const rule = { resource: 'Article', action: 'read' };
    await newsroom.policy({
      role: 'user',
      rules: [{ ...rule, conditions: [eq('user.teamId.name', 'night'), eq('resource.authorId.department', 'sports')] }],
    });
    const reply = await newsroom.ask({ ...rule, id: newsroom.idOf('other') });
    expect(rolesIn(reply)).toEqual([['user', 'conditional', 'user.teamId.name eq "night"']]);
    expect(usersIn(reply)).toEqual([['quin', 'allow', 'role']]);
  });

  it('lists every user once, for any page size', async () => {
    await newsroom.policy({ role: 'user', userId: newsroom.idOf('noor'), rules: [{ resource: 'Team', action: 'read' }] });
    const whole = (await newsroom.ask({ resource: 'Team', action: 'read', limit: 1000 })).at('data.users') as readonly Row[];
    expect(whole.map(({ id }) => id)).toEqual([newsroom.admin.id, ...['noor', 'omar', 'pia', 'quin'].map(newsroom.idOf)]);
    for (const limit of [1, 2, 3, 4, 5]) {
      const { seen, sizes } = await newsroom.askAll({ resource: 'Team', action: 'read', limit });
      expect(seen).toEqual(whole);
      expect(sizes.slice(0, -1).every((size) => size === limit)).toBe(true);
    }
  });

  it('ends a page of who-can after the time limit, and continues with a cursor', async () => {
    await newsroom.policy({ role: 'user', rules: [{ resource: 'Team', action: 'read' }] });
    const { seen: whole } = await newsroom.askAll({ resource: 'Team', action: 'read' });
    const { seen, sizes } = await withFastClock(250, () => newsroom.askAll({ resource: 'Team', action: 'read' }));
    expect(seen).toEqual(whole);
    // Each page evaluates one user. A last page finds no further user.
    expect(sizes).toEqual([1, 1, 1, 1, 0]);
  });

  it('who-can queries and lists of permissions have an audit entry of the admin, and are not counted', async () => {
    const counts = async () => (await newsroom.send('GET', '/admin/api/policies-analytics')).at('data');
    const before = await counts();
    const earlier = new Set((await newsroom.service.decisions('limit=1000')).map(({ id }) => id));
    await newsroom.ask({ resource: 'Article', action: 'read' });
    const userId = newsroom.idOf('maya');
    await newsroom.send('POST', `/admin/api/users/${userId}/permissions`, {});
    const asked = { kind: 'admin', resource: 'Admin', allowed: true };
    // Tests of this file move the clock, so the new entries are not the first.
    expect((await newsroom.service.decisions('limit=1000')).filter(({ id }) => !earlier.has(id))).toMatchObject([
      { ...asked, action: 'tests.permissions', facts: { question: { userId } } },
      { ...asked, action: 'tests.whoCan', facts: { question: { resource: 'Article', action: 'read' } } },
    ]);
    expect({ ...((await counts()) as object), from: '' }).toEqual({ ...(before as object), from: '' });
  });
});

describe('a who-can query', () => {
  const good = { resource: 'Article', action: 'read' };
  const whoCan: readonly (readonly [what: string, body: unknown, status: number, has: object])[] = [
    ['an unknown resource', { ...good, resource: 'Artcle' }, 400, { errors: [{ path: 'resource', code: 'unknown' }] }],
    ['an internal resource', { ...good, resource: '_Policy' }, 400, { errors: [{ path: 'resource' }] }],
    ['__proto__ as a resource', { ...good, resource: '__proto__' }, 400, { errors: [{ path: 'resource' }] }],
    ['an unknown action', { ...good, action: 'raed' }, 400, { errors: [{ path: 'action', code: 'enum' }] }],
    ['an empty object', {}, 400, { errors: [{ path: 'resource' }, { path: 'action' }] }],
    ['a list instead of an object', [], 400, { code: 'REQUEST_MALFORMED' }],
    [
      'wrong types, each with an error',
      { resource: 1, action: 2, id: 3, environment: 4, limit: '5', cursor: 6 },
      400,
      { errors: ['resource', 'id', 'action', 'environment', 'limit', 'cursor'].map((path) => ({ path, code: 'type' })) },
    ],
    ['an unknown member', { ...good, recordId: 'x' }, 400, { errors: [{ path: 'recordId', code: 'unknown' }] }],
    ['an unknown value of the environment', { ...good, environment: { hour: 5 } }, 400, { errors: [{ path: 'environment.hour' }] }],
    ['an invalid timestamp', { ...good, environment: { timestamp: 'now' } }, 400, { errors: [{ path: 'environment.timestamp' }] }],
    ['an invalid address', { ...good, environment: { ip: 'here' } }, 400, { errors: [{ path: 'environment.ip' }] }],
    ...[0, 1001, -1].map((limit) => [`limit ${limit}`, { ...good, limit }, 400, { errors: [{ path: 'limit', code: 'range' }] }] as const),
    ...[1.5, null].map((limit) => [`limit ${limit}`, { ...good, limit }, 400, { errors: [{ path: 'limit', code: 'type' }] }] as const),
    ...['x', Buffer.from('user me').toString('base64url')].map(
      (cursor) => [`cursor ${cursor.slice(0, 20)}`, { ...good, cursor }, 400, { code: 'REQUEST_CURSOR' }] as const,
    ),
    ['an empty cursor', { ...good, cursor: '' }, 400, { errors: [{ path: 'cursor', code: 'tooShort' }] }],
    ['a cursor that is too long', { ...good, cursor: 'A'.repeat(10_000) }, 400, { errors: [{ path: 'cursor', code: 'tooLong' }] }],
    ['a missing record', { ...good, id: UNKNOWN_ID }, 404, { code: 'RECORD_UNKNOWN' }],
  ];
  it.each(whoCan)('refuses a who-can query with %s', async (_, body, status, has) => {
    const reply = await newsroom.send('POST', WHO_CAN, body);
    expect(reply.status, reply.text).toBe(status);
    expect(reply.body).toMatchObject({ success: false, ...has });
  });

  it('restricts who-can queries to admins', async () => {
    const anon = await newsroom.service.call('POST', WHO_CAN, { body: good });
    const other = await newsroom.service.call('POST', WHO_CAN, { body: good, token: newsroom.person('maya').token });
    expect([anon.status, anon.at('code'), other.status, other.at('code')]).toEqual([401, 'IDENTITY_REQUIRED', 403, 'ACCESS_ADMIN']);
  });
});
