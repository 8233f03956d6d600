/** Permissions of a user: every resource × every action, with the deciding rule. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withFastClock } from '../fast-clock.ts';
import type { Reply } from '../harness.ts';
import { type AccessQueryService, type Row, startAccessQueryService, UNKNOWN_ID } from './access-query-service.ts';

let newsroom: AccessQueryService;
beforeAll(async () => {
  newsroom = await startAccessQueryService();
});
/** Each test starts with only the policy of the first admin. */
beforeEach(() => newsroom.forget());
afterAll(() => newsroom.service.close());

const own = { field: 'resource.authorId', operator: 'eq', value: `\${user.id}` };
const permissionsOf = async (name: string, body: object = {}): Promise<Reply> => {
  const reply = await newsroom.send('POST', `/admin/api/users/${newsroom.idOf(name)}/permissions`, body);
  expect(reply.status, reply.text).toBe(200);
  return reply;
};

describe('the permissions of a user', () => {
  it('permissions use the user as creator of a new record', async () => {
    const made = { field: 'resource.createdBy', operator: 'eq', value: `\${user.id}` };
    await newsroom.policy({ role: 'user', rules: [{ resource: 'Team', action: '*', conditions: [made] }] });
    const cells = (await permissionsOf('pia', { resources: ['Team'] })).at('data') as readonly { action: string; effect: string }[];
    expect(Object.fromEntries(cells.map(({ action, effect }) => [action, effect]))).toMatchObject({
      create: 'allow',
      import: 'allow',
      update: 'conditional',
      list: 'conditional',
    });
    const who = await newsroom.ask({ resource: 'Team', action: 'create' });
    expect(who.at('data.roles')).toContainEqual(expect.objectContaining({ role: 'user', when: `resource.createdBy eq \${user.id}` }));
    expect(who.at('data.users')).toContainEqual(expect.objectContaining({ name: 'pia', effect: 'allow' }));
    const withId = await newsroom.send('POST', '/admin/api/policies/who-can', {
      resource: 'Article',
      action: 'create',
      id: newsroom.idOf('own'),
    });
    expect([withId.status, withId.at('errors.0.path')]).toEqual([400, 'id']);
  });

  it('lists every resource × every action with the deciding rule', async () => {
    const id = await newsroom.policy({
      name: 'P',
      userId: newsroom.idOf('pia'),
      rules: [
        { resource: 'Team', action: '*' },
        { resource: 'Team', action: 'delete', effect: 'DENY', description: 'keep' },
        { resource: 'Article', action: 'list', conditions: [own] },
      ],
    });
    const reply = await permissionsOf('pia');
    expect(reply.at('user')).toEqual({
      id: newsroom.idOf('pia'),
      name: 'pia',
      email: newsroom.person('pia').email,
      role: 'user',
      isActive: true,
    });
    expect(reply.at('count')).toBe(5 * 7);
    const cells = reply.at('data') as readonly (Row & { resource: string; action: string; reason: string })[];
    const cell = (resource: string, action: string) => cells.find((one) => one.resource === resource && one.action === action);
    expect(new Set(cells.map(({ resource, action }) => `${resource} ${action}`)).size).toBe(35);
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
      reason: expect.any(String),
      rule: { ...rule, description: 'keep' },
      policy: of,
    });
    expect(cell('Article', 'list')).toMatchObject({
      effect: 'conditional',
      rule,
      policy: of,
      when: `resource.authorId eq "${newsroom.idOf('pia')}"`,
    });
    expect(cell('Article', 'read')).toEqual({ resource: 'Article', action: 'read', effect: 'deny', reason: expect.any(String) });
  });

  it('limits permissions to the given resources', async () => {
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

  it('ends a page of permissions after the time limit, and continues with a cursor', async () => {
    const whole = (await permissionsOf('pia')).at('data') as readonly object[];
    const pieces: object[][] = [];
    await withFastClock(150, async () => {
      for (let cursor: unknown; pieces.length === 0 || cursor !== undefined; ) {
        const reply = await permissionsOf('pia', cursor === undefined ? {} : { cursor });
        pieces.push(reply.at('data') as object[]);
        cursor = reply.at('nextCursor');
      }
    });
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.flat()).toEqual(whole);
  });

  it('warns that no token of an inactive user is accepted', async () => {
    const reply = await permissionsOf('gone');
    expect(reply.at('user.isActive')).toBe(false);
    expect(reply.at('warnings')).toEqual([expect.stringContaining('not active')]);
    expect((await permissionsOf('pia')).at('warnings')).toBeUndefined();
  });
});

describe('a query of permissions', () => {
  const permissions: readonly (readonly [what: string, body: unknown, status: number, has: object])[] = [
    ['an unknown resource', { resources: ['Article', 'Taem'] }, 400, { errors: [{ path: 'resources.1', code: 'unknown' }] }],
    ['a string instead of a list', { resources: 'Article' }, 400, { errors: [{ path: 'resources', code: 'type' }] }],
    ['an empty list', { resources: [] }, 400, { errors: [{ path: 'resources' }] }],
    ['a cursor of another query', { cursor: 'VGVhbQ' }, 400, { code: 'REQUEST_CURSOR' }],
    ['too many names', { resources: Array(501).fill('Team') }, 400, { errors: [{ path: 'resources', code: 'tooMany' }] }],
    [
      'wrong types, each with an error',
      { resources: [1], environment: [] },
      400,
      { errors: [{ path: 'resources.0' }, { path: 'environment' }] },
    ],
    ['an unknown member', { resource: 'Team' }, 400, { errors: [{ path: 'resource', code: 'unknown' }] }],
  ];
  it.each(permissions)('refuses a query of permissions with %s', async (_, body, status, has) => {
    const reply = await newsroom.send('POST', `/admin/api/users/${newsroom.idOf('pia')}/permissions`, body);
    expect(reply.status, reply.text).toBe(status);
    expect(reply.body).toMatchObject({ success: false, ...has });
  });

  it('refuses a query of permissions for a missing user', async () => {
    const reply = await newsroom.send('POST', `/admin/api/users/${UNKNOWN_ID}/permissions`, {});
    expect([reply.status, reply.at('code')]).toEqual([404, 'USER_UNKNOWN']);
  });

  it('restricts queries of permissions to admins', async () => {
    const path = `/admin/api/users/${newsroom.idOf('maya')}/permissions`;
    const anon = await newsroom.service.call('POST', path, { body: {} });
    const other = await newsroom.service.call('POST', path, { body: {}, token: newsroom.person('maya').token });
    expect([anon.status, anon.at('code'), other.status, other.at('code')]).toEqual([401, 'IDENTITY_REQUIRED', 403, 'ACCESS_ADMIN']);
  });
});
