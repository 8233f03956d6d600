/** What a user may do: every resource × every action, and why. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Reply } from '../harness.ts';
import { type AccessQueryService, type Row, startAccessQueryService, UNKNOWN_ID } from './access-query-service.ts';

let world: AccessQueryService;
beforeAll(async () => {
  world = await startAccessQueryService();
});
/** Each test begins with the policy of the first admin alone. */
beforeEach(() => world.forget());
afterAll(() => world.service.close());

const own = { field: 'resource.authorId', operator: 'eq', value: `\${user.id}` };
const permissionsOf = async (name: string, body: object = {}): Promise<Reply> => {
  const reply = await world.send('POST', `/admin/api/users/${world.idOf(name)}/permissions`, body);
  expect(reply.status, reply.text).toBe(200);
  return reply;
};

describe('what a user may do', () => {
  it('knows who makes what a create makes', async () => {
    const made = { field: 'resource.createdBy', operator: 'eq', value: `\${user.id}` };
    await world.policy({ role: 'user', rules: [{ resource: 'Team', action: '*', conditions: [made] }] });
    const cells = (await permissionsOf('pia', { resources: ['Team'] })).at('data') as readonly { action: string; effect: string }[];
    expect(Object.fromEntries(cells.map(({ action, effect }) => [action, effect]))).toMatchObject({
      create: 'allow',
      import: 'allow',
      update: 'conditional',
      list: 'conditional',
    });
    const who = await world.ask({ resource: 'Team', action: 'create' });
    expect(who.at('data.roles')).toContainEqual(expect.objectContaining({ role: 'user', when: `resource.createdBy eq \${user.id}` }));
    expect(who.at('data.users')).toContainEqual(expect.objectContaining({ name: 'pia', effect: 'allow' }));
    const withId = await world.send('POST', '/admin/api/policies/who-can', {
      resource: 'Article',
      action: 'create',
      id: world.idOf('own'),
    });
    expect([withId.status, withId.at('errors.0.path')]).toEqual([422, 'id']);
  });

  it('is every resource × every action, with the reason', async () => {
    const id = await world.policy({
      name: 'P',
      userId: world.idOf('pia'),
      rules: [
        { resource: 'Team', action: '*' },
        { resource: 'Team', action: 'delete', effect: 'DENY', description: 'keep' },
        { resource: 'Article', action: 'list', conditions: [own] },
      ],
    });
    const reply = await permissionsOf('pia');
    expect(reply.at('user')).toEqual({
      id: world.idOf('pia'),
      name: 'pia',
      email: world.person('pia').email,
      role: 'user',
      isActive: true,
    });
    expect(reply.at('count')).toBe(3 * 7);
    const cells = reply.at('data') as readonly (Row & { resource: string; action: string; reason: string })[];
    const cell = (resource: string, action: string) => cells.find((one) => one.resource === resource && one.action === action);
    expect(new Set(cells.map(({ resource, action }) => `${resource} ${action}`)).size).toBe(21);
    const rule = { id: expect.any(String) };
    const of = { id, name: 'P' };
    expect(cell('Team', 'create')).toEqual({
      resource: 'Team',
      action: 'create',
      effect: 'allow',
      reason: expect.stringContaining('allowed by rule'),
      rule,
      policy: of,
    });
    expect(cell('Team', 'delete')).toEqual({
      resource: 'Team',
      action: 'delete',
      effect: 'deny',
      reason: 'denied by rule "keep" of policy "P"',
      rule: { ...rule, description: 'keep' },
      policy: of,
    });
    expect(cell('Article', 'list')).toMatchObject({
      effect: 'conditional',
      rule,
      policy: of,
      when: `resource.authorId eq "${world.idOf('pia')}"`,
    });
    expect(cell('Article', 'read')).toEqual({ resource: 'Article', action: 'read', effect: 'deny', reason: 'no rule matched' });
  });

  it('is asked for some resources', async () => {
    const reply = await permissionsOf('pia', { resources: ['Team'] });
    expect(reply.at('count')).toBe(7);
    expect(reply.at('data.0')).toEqual({
      resource: 'Team',
      action: 'create',
      effect: 'deny',
      reason: expect.stringContaining('no policies found'),
    });
    expect((await permissionsOf('pia', { resources: ['Team', 'Team'] })).at('count')).toBe(7);
  });

  it('ends where deciding takes long, and goes on there', async () => {
    const whole = (await permissionsOf('pia')).at('data') as readonly object[];
    // A clock that runs 150 ms each time somebody looks at it.
    let at = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (at += 150));
    const pieces: object[][] = [];
    for (let cursor: unknown; pieces.length === 0 || cursor !== undefined; ) {
      const reply = await permissionsOf('pia', cursor === undefined ? {} : { cursor });
      pieces.push(reply.at('data') as object[]);
      cursor = reply.at('nextCursor');
    }
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.flat()).toEqual(whole);
  });

  it('says of a user who is not active that no token is accepted', async () => {
    const reply = await permissionsOf('gone');
    expect(reply.at('user.isActive')).toBe(false);
    expect(reply.at('warnings')).toEqual([expect.stringContaining('not active')]);
    expect((await permissionsOf('pia')).at('warnings')).toBeUndefined();
  });
});

describe('a question that cannot be answered', () => {
  const permissions: readonly (readonly [what: string, body: unknown, status: number, has: object])[] = [
    [
      'an unknown resource',
      { resources: ['Article', 'Taem'] },
      422,
      { errors: [{ path: 'resources.1', detail: expect.stringContaining('did you mean "Team"?') }] },
    ],
    [
      'no list',
      { resources: 'Article' },
      422,
      { errors: [{ path: 'resources', detail: 'expected a list of 1 to 3 names of resources, given "Article"' }] },
    ],
    ['an empty list', { resources: [] }, 422, { errors: [{ path: 'resources' }] }],
    ['a cursor of something else', { cursor: 'VGVhbQ' }, 400, { code: 'REQUEST_CURSOR' }],
    ['more names than resources', { resources: Array(4).fill('Team') }, 422, { errors: [{ path: 'resources' }] }],
    [
      'wrong types, all of them listed',
      { resources: [1], environment: [] },
      422,
      { errors: [{ path: 'environment' }, { path: 'resources.0' }] },
    ],
    [
      'an unknown member',
      { resource: 'Team' },
      422,
      { errors: [{ path: 'resource', detail: expect.stringContaining('did you mean "resources"?') }] },
    ],
  ];
  it.each(permissions)('permissions: %s', async (_, body, status, has) => {
    const reply = await world.send('POST', `/admin/api/users/${world.idOf('pia')}/permissions`, body);
    expect(reply.status, reply.text).toBe(status);
    expect(reply.body).toMatchObject({ success: false, ...has });
  });

  it('permissions: a user who is not there', async () => {
    const reply = await world.send('POST', `/admin/api/users/${UNKNOWN_ID}/permissions`, {});
    expect([reply.status, reply.at('code')]).toEqual([404, 'USER_UNKNOWN']);
  });

  it('is for admins alone', async () => {
    const path = `/admin/api/users/${world.idOf('maya')}/permissions`;
    const anon = await world.service.call('POST', path, { body: {} });
    const other = await world.service.call('POST', path, { body: {}, token: world.person('maya').token });
    expect([anon.status, anon.at('code'), other.status, other.at('code')]).toEqual([401, 'IDENTITY_REQUIRED', 403, 'ACCESS_ADMIN']);
  });
});
