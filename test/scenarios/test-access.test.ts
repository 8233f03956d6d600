/** An access test predicts the decision of a request: both are compared here. Also its warnings. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reply } from '../harness.ts';
import { type AccessQueryService, startAccessQueryService, UNKNOWN_ID } from './access-query-service.ts';

let newsroom: AccessQueryService;
beforeAll(async () => {
  newsroom = await startAccessQueryService();
});
beforeEach(() => newsroom.forget());
afterAll(() => newsroom.service.close());

const TEST = '/admin/api/policies/test-access';
const eq = (field: string, value: unknown): object => ({ field, operator: 'eq', value });
const DRAFT = eq('resource.status', 'draft');
const rule = (action: string, ...conditions: readonly object[]): object => ({ resource: 'Article', action, conditions });

const testAccess = (body: object): Promise<Reply> => newsroom.send('POST', TEST, body);

interface TestCase {
  readonly name: string;
  readonly action: 'create' | 'update';
  readonly rules: readonly object[];
  /** `<me>` is the id of the caller. */
  readonly data: object;
  readonly allowed: boolean;
}

const testCases: readonly TestCase[] = [
  { name: 'a create with the required value', action: 'create', rules: [rule('create', DRAFT)], data: { status: 'draft' }, allowed: true },
  { name: 'a create with another value', action: 'create', rules: [rule('create', DRAFT)], data: { status: 'published' }, allowed: false },
  { name: 'a create without the value', action: 'create', rules: [rule('create', DRAFT)], data: {}, allowed: false },
  {
    name: 'a create by its creator',
    action: 'create',
    rules: [rule('create', eq('resource.createdBy', `\${user.id}`), eq('resource.version', 1))],
    data: { title: 'x' },
    allowed: true,
  },
  {
    name: 'a create with the caller as author',
    action: 'create',
    rules: [rule('create', eq('resource.authorId', `\${user.id}`), eq('resource.authorId.department', 'sports'))],
    data: { authorId: '<me>' },
    allowed: true,
  },
  {
    name: 'a create that a DENY matches by its new id',
    action: 'create',
    rules: [rule('create'), { ...rule('create', eq('resource.id', `\${user.id}`)), effect: 'DENY' }],
    data: {},
    allowed: true,
  },
  { name: 'an update of a draft', action: 'update', rules: [rule('update', DRAFT)], data: { title: 'x' }, allowed: true },
  {
    name: 'an update that publishes a draft',
    action: 'update',
    rules: [rule('update', DRAFT)],
    data: { status: 'published' },
    allowed: false,
  },
  {
    name: 'an update that removes the status of a draft',
    action: 'update',
    rules: [rule('update', DRAFT)],
    data: { status: null },
    allowed: false,
  },
  {
    name: 'an update of the author by the author',
    action: 'update',
    rules: [rule('update', eq('resource.authorId.department', 'sports'))],
    data: { authorId: null },
    allowed: false,
  },
  {
    name: 'an update by its request data',
    action: 'update',
    rules: [rule('update', eq('request.data.title', 'x'))],
    data: { title: 'x' },
    allowed: true,
  },
  {
    name: 'an increment without read',
    action: 'update',
    rules: [rule('update')],
    data: { views: { increment: 1 } },
    allowed: false,
  },
  {
    name: 'an increment with read of the current record only',
    action: 'update',
    rules: [rule('update'), rule('read', DRAFT)],
    data: { views: { increment: 1 }, status: 'published' },
    allowed: true,
  },
];

describe('an access test and the request', () => {
  it.each(testCases)('an access test agrees with the request: $name', async ({ action, rules, data, allowed }) => {
    await newsroom.policy({ name: 'P', role: 'editor', rules });
    const { id, token } = newsroom.person('maya');
    const body = JSON.parse(JSON.stringify(data).replaceAll('<me>', id));
    const article = await newsroom.service.createRecord('Article', { title: 'a', status: 'draft', authorId: id });
    const resource = action === 'create' ? { name: 'Article' } : { name: 'Article', id: article };
    const told = await testAccess({ user: { id }, resource, action, data: body });
    const [method, path] = action === 'create' ? ['POST', '/api/Article'] : ['PUT', `/api/Article/${article}`];
    const done = await newsroom.service.call(method, path, { token, body });
    expect([told.at('data.allowed'), done.status < 300]).toEqual([allowed, allowed]);
    if (!allowed) expect(told.at('data.reason')).toBe(done.at('detail'));
  });

  it('describes in a note which record denies an update: the current or the changed record', async () => {
    await newsroom.policy({ role: 'editor', rules: [rule('update', DRAFT)] });
    const asked = { user: { id: newsroom.idOf('maya') }, resource: { name: 'Article', id: newsroom.idOf('own') }, action: 'update' };
    const changed = await testAccess({ ...asked, data: { status: 'published' } });
    expect(changed.at('data.note')).toBe('the current record passes; the changed record does not');
    expect(changed.at('data.wouldAllow.0.unmet')).toMatchObject([{ field: 'resource.status', actual: 'published' }]);
    const stored = await testAccess({ ...asked, resource: { name: 'Article', id: newsroom.idOf('other') }, data: { status: 'draft' } });
    expect([stored.at('data.allowed'), stored.at('data.note')]).toEqual([false, undefined]);
  });

  it('tests an update with a hypothetical record', async () => {
    await newsroom.policy({ role: 'editor', rules: [rule('update', DRAFT, { field: 'resource.id', operator: 'exists', value: false })] });
    const asked = { user: { id: newsroom.idOf('maya') }, resource: { name: 'Article', status: 'draft' }, action: 'update' };
    expect((await testAccess({ ...asked, data: { title: 'x' } })).at('data.allowed')).toBe(true);
    expect((await testAccess({ ...asked, data: { status: 'published' } })).at('data.allowed')).toBe(false);
  });
});

describe('unknown values in a test', () => {
  it('treats the method and path of the request as unknown in a test, so that the result is conditional', async () => {
    await newsroom.policy({ role: 'user', rules: [rule('read', eq('request.method', 'GET'))] });
    const asked = { user: { id: newsroom.idOf('pia') }, resource: { name: 'Article', id: newsroom.idOf('own') }, action: 'read' };
    expect((await testAccess(asked)).at('data')).toMatchObject({ allowed: true, conditional: true, when: 'request.method eq "GET"' });
  });
});

describe('the warnings of a test', () => {
  const asked = { resource: { name: 'Article' }, action: 'list' };
  const warnings = async (body: object): Promise<unknown> => (await testAccess({ ...asked, ...body })).at('warnings');

  it('a valid test has no warnings', async () => {
    expect(await warnings({ user: { id: newsroom.idOf('pia'), department: 'sports' } })).toBeUndefined();
    expect(
      await warnings({ user: { id: 'u1', role: 'editor', team: 'x' }, resource: { name: 'Article', id: 'a1', status: 'draft' } }),
    ).toBeUndefined();
    expect(await warnings({})).toBeUndefined();
  });

  it.each([
    [
      'an inactive user',
      () => ({ user: { id: newsroom.idOf('gone') } }),
      'the user is not active: every request of this user is refused, even if policies allow it',
    ],
    ['a user id without a user', () => ({ user: { id: UNKNOWN_ID } }), 'no user has this id: without "user.role", the role is anon'],
    ['a role without policies', () => ({ user: { role: 'editr' } }), 'no policy can be assigned to role "editr" (did you mean "editor"?)'],
    [
      'an attribute with a typing error',
      () => ({ user: { role: 'user', departmnt: 'x' } }),
      'User has no field "departmnt" (did you mean "department"?)',
    ],
    [
      'an id without a record',
      () => ({ resource: { name: 'Article', id: UNKNOWN_ID } }),
      'no Article has this id: the test uses a record without attributes',
    ],
    [
      'values that the request would refuse',
      () => ({ user: { role: 'user' }, action: 'create', data: { stauts: 'draft', status: 'done' } }),
      'the request would still be rejected, because its values are invalid: stauts: unknown field "stauts" (did you mean "status"?); status: expected one of draft, published',
    ],
  ] as const)('describes in a warning of a test %s', async (_, body, warning) => {
    expect(await warnings(body())).toEqual([warning]);
  });

  it('a policy test has the same warnings as an access test', async () => {
    const policy = await newsroom.policy({ rules: [rule('read')] });
    const reply = await newsroom.send('POST', `/admin/api/policies/${policy}/test`, { ...asked, user: { id: newsroom.idOf('gone') } });
    expect(reply.at('warnings')).toEqual([expect.stringContaining('not active')]);
  });
});

describe('a test for an inactive user', () => {
  const asked = { resource: { name: 'Article' }, action: 'list' };
  const REFUSED = { allowed: false, reason: 'the user of this token is not active' };

  beforeEach(async () => {
    await newsroom.policy({ role: 'editor', rules: [rule('*')] });
  });

  const cases: readonly (readonly [what: string, user: () => object, allowed: boolean])[] = [
    ['inactive as stored', () => ({ id: newsroom.idOf('gone') }), false],
    ['inactive in the test', () => ({ id: newsroom.idOf('maya'), isActive: false }), false],
    ['inactive in the test, and not stored', () => ({ role: 'editor', isActive: false }), false],
    ['inactive as stored, with a role in the test', () => ({ id: newsroom.idOf('gone'), role: 'editor' }), false],
    ['active in the test only', () => ({ id: newsroom.idOf('gone'), isActive: true }), true],
    ['not stored, given only by role', () => ({ role: 'editor' }), true],
  ];

  it.each(cases)('decides a test for a user who is %s', async (_, user, allowed) => {
    for (const action of ['read', 'list', 'create', 'update', 'delete', 'export', 'import']) {
      const reply = await testAccess({ ...asked, user: user(), action });
      const expected = { ...REFUSED, matchedPolicy: null, matchedRule: null, note: expect.any(String) };
      expect(reply.at('data'), action).toMatchObject(allowed ? { allowed } : expected);
      expect(reply.at('data.wouldAllow')).toBeUndefined();
    }
  });

  it('policy tests, permissions, who-can and requests agree on the denial of an inactive user', async () => {
    const policy = await newsroom.policy({ rules: [rule('read')] });
    const alone = await newsroom.send('POST', `/admin/api/policies/${policy}/test`, { ...asked, user: { id: newsroom.idOf('gone') } });
    expect(alone.at('data')).toMatchObject({ ...REFUSED, evaluation: { matched: false, effect: 'DENY', policy: { id: policy } } });
    const cells = (await newsroom.send('POST', `/admin/api/users/${newsroom.idOf('gone')}/permissions`, {})).at('data') as object[];
    expect(cells.length).toBeGreaterThan(0);
    for (const cell of cells) {
      expect(cell).toMatchObject({ effect: 'deny', reason: REFUSED.reason });
      expect(cell).not.toHaveProperty('rule');
    }
    const could = await newsroom.send('POST', '/admin/api/policies/who-can', { resource: 'Article', action: 'read' });
    expect(JSON.stringify(could.at('data.users'))).not.toContain(newsroom.idOf('gone'));
    const request = await newsroom.service.call('GET', '/api/Article', { token: newsroom.person('gone').token });
    expect([request.status, request.at('code')]).toEqual([401, 'IDENTITY_TOKEN']);
  });
});

describe('an invalid access query', () => {
  const paths = async (path: string, body: object): Promise<readonly string[]> => {
    const reply = await newsroom.send('POST', path, body);
    expect([reply.status, reply.at('code')]).toEqual([400, 'REQUEST_MALFORMED']);
    return (reply.at('errors') as { path: string }[]).map((error) => error.path).sort();
  };

  it('lists all errors of an access query, including unknown members', async () => {
    expect(await paths(TEST, { usr: {}, resource: 5, action: 'reed', environment: { ip: 'home' } })).toEqual([
      'action',
      'environment.ip',
      'resource',
      'usr',
    ]);
    expect(await paths('/admin/api/policies/who-can', { user: {}, resource: 5, action: 'reed' })).toEqual(['action', 'resource', 'user']);
    const permissions = `/admin/api/users/${newsroom.idOf('pia')}/permissions`;
    expect(await paths(permissions, { resource: 'Article', resources: [5] })).toEqual(['resource', 'resources.0']);
    expect(await paths(permissions, { resources: ['Artcle', 'Team', 'Taem'] })).toEqual(['resources.0', 'resources.2']);
  });
});
