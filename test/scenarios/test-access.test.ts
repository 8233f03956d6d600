/** A test of access says what the request will come to: the answers of both, side by side, and what a test has to warn of. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reply } from '../harness.ts';
import { type AccessQueryService, startAccessQueryService, UNKNOWN_ID } from './access-query-service.ts';

let world: AccessQueryService;
beforeAll(async () => {
  world = await startAccessQueryService();
});
beforeEach(() => world.forget());
afterAll(() => world.service.close());

const TEST = '/admin/api/policies/test-access';
const eq = (field: string, value: unknown): object => ({ field, operator: 'eq', value });
const DRAFT = eq('resource.status', 'draft');
const rule = (action: string, ...conditions: readonly object[]): object => ({ resource: 'Article', action, conditions });

const test = (body: object): Promise<Reply> => world.send('POST', TEST, body);

interface Try {
  readonly name: string;
  readonly action: 'create' | 'update';
  readonly rules: readonly object[];
  /** `<me>` is the id of whoever asks. */
  readonly data: object;
  readonly allowed: boolean;
}

const tries: readonly Try[] = [
  { name: 'a create by what is sent', action: 'create', rules: [rule('create', DRAFT)], data: { status: 'draft' }, allowed: true },
  { name: 'a create of something else', action: 'create', rules: [rule('create', DRAFT)], data: { status: 'published' }, allowed: false },
  { name: 'a create without the value', action: 'create', rules: [rule('create', DRAFT)], data: {}, allowed: false },
  {
    name: 'a create by who makes it',
    action: 'create',
    rules: [rule('create', eq('resource.createdBy', `\${user.id}`), eq('resource.version', 1))],
    data: { title: 'x' },
    allowed: true,
  },
  {
    name: 'a create for oneself',
    action: 'create',
    rules: [rule('create', eq('resource.authorId', `\${user.id}`), eq('resource.authorId.department', 'sports'))],
    data: { authorId: '<me>' },
    allowed: true,
  },
  {
    name: 'a create that a DENY knows by its new id',
    action: 'create',
    rules: [rule('create'), { ...rule('create', eq('resource.id', `\${user.id}`)), effect: 'DENY' }],
    data: {},
    allowed: true,
  },
  { name: 'a change of a draft', action: 'update', rules: [rule('update', DRAFT)], data: { title: 'x' }, allowed: true },
  { name: 'a draft that would be none', action: 'update', rules: [rule('update', DRAFT)], data: { status: 'published' }, allowed: false },
  { name: 'a draft that would have no status', action: 'update', rules: [rule('update', DRAFT)], data: { status: null }, allowed: false },
  {
    name: 'an author who hands it on',
    action: 'update',
    rules: [rule('update', eq('resource.authorId.department', 'sports'))],
    data: { authorId: null },
    allowed: false,
  },
  {
    name: 'a change by what is sent',
    action: 'update',
    rules: [rule('update', eq('request.data.title', 'x'))],
    data: { title: 'x' },
    allowed: true,
  },
];

describe('a test of a change', () => {
  it.each(tries)('$name', async ({ action, rules, data, allowed }) => {
    await world.policy({ name: 'P', role: 'editor', rules });
    const { id, token } = world.person('maya');
    const body = JSON.parse(JSON.stringify(data).replaceAll('<me>', id));
    const article = await world.service.createRecord('Article', { title: 'a', status: 'draft', authorId: id });
    const resource = action === 'create' ? { name: 'Article' } : { name: 'Article', id: article };
    const told = await test({ user: { id }, resource, action, data: body });
    const [method, path] = action === 'create' ? ['POST', '/api/Article'] : ['PUT', `/api/Article/${article}`];
    const done = await world.service.call(method, path, { token, body });
    expect([told.at('data.allowed'), done.status < 300]).toEqual([allowed, allowed]);
    if (!allowed) expect(told.at('data.reason')).toBe(done.at('detail'));
  });

  it('says which of the two looks of an update denies', async () => {
    await world.policy({ role: 'editor', rules: [rule('update', DRAFT)] });
    const asked = { user: { id: world.idOf('maya') }, resource: { name: 'Article', id: world.idOf('own') }, action: 'update' };
    const changed = await test({ ...asked, data: { status: 'published' } });
    expect(changed.at('data.note')).toBe('the current record passes; the changed record does not');
    expect(changed.at('data.wouldAllow.0.unmet')).toMatchObject([{ field: 'resource.status', actual: 'published' }]);
    const stored = await test({ ...asked, resource: { name: 'Article', id: world.idOf('other') }, data: { status: 'draft' } });
    expect([stored.at('data.allowed'), stored.at('data.note')]).toEqual([false, undefined]);
  });

  it('takes a record that is only thought of', async () => {
    await world.policy({ role: 'editor', rules: [rule('update', DRAFT, { field: 'resource.id', operator: 'exists', value: false })] });
    const asked = { user: { id: world.idOf('maya') }, resource: { name: 'Article', status: 'draft' }, action: 'update' };
    expect((await test({ ...asked, data: { title: 'x' } })).at('data.allowed')).toBe(true);
    expect((await test({ ...asked, data: { status: 'published' } })).at('data.allowed')).toBe(false);
  });
});

describe('what a test does not know', () => {
  it('leaves method and path of the request open, which are not those of the test', async () => {
    await world.policy({ role: 'user', rules: [rule('read', eq('request.method', 'GET'))] });
    const asked = { user: { id: world.idOf('pia') }, resource: { name: 'Article', id: world.idOf('own') }, action: 'read' };
    expect((await test(asked)).at('data')).toMatchObject({ allowed: true, conditional: true, when: 'request.method eq "GET"' });
  });
});

describe('what a test warns of', () => {
  const asked = { resource: { name: 'Article' }, action: 'list' };
  const warnings = async (body: object): Promise<unknown> => (await test({ ...asked, ...body })).at('warnings');

  it('nothing, where all is well', async () => {
    expect(await warnings({ user: { id: world.idOf('pia'), department: 'sports' } })).toBeUndefined();
    expect(
      await warnings({ user: { id: 'u1', role: 'editor', team: 'x' }, resource: { name: 'Article', id: 'a1', status: 'draft' } }),
    ).toBeUndefined();
    expect(await warnings({})).toBeUndefined();
  });

  it.each([
    [
      'a user who is not active',
      () => ({ user: { id: world.idOf('gone') } }),
      'the user is not active: every request of this user is refused, even if policies allow it',
    ],
    ['an id of nobody', () => ({ user: { id: UNKNOWN_ID } }), 'no user has this id: without "user.role", the role is anon'],
    ['a role of nobody', () => ({ user: { role: 'editr' } }), 'no policy can be assigned to role "editr" (did you mean "editor"?)'],
    [
      'an attribute nearly known',
      () => ({ user: { role: 'user', departmnt: 'x' } }),
      'User has no field "departmnt" (did you mean "department"?)',
    ],
    [
      'an id of no record',
      () => ({ resource: { name: 'Article', id: UNKNOWN_ID } }),
      'no Article has this id: the test uses a record without attributes',
    ],
    [
      'values that would be refused',
      () => ({ user: { role: 'user' }, action: 'create', data: { stauts: 'draft', status: 'done' } }),
      'the request would still be rejected, because its values are invalid: stauts: unknown field "stauts" (did you mean "status"?); status: expected one of draft, published',
    ],
  ] as const)('%s', async (_, body, warning) => {
    expect(await warnings(body())).toEqual([warning]);
  });

  it('a test of one policy too', async () => {
    const policy = await world.policy({ rules: [rule('read')] });
    const reply = await world.send('POST', `/admin/api/policies/${policy}/test`, { ...asked, user: { id: world.idOf('gone') } });
    expect(reply.at('warnings')).toEqual(['the user is not active: every request of this user is refused, even if policies allow it']);
  });
});

describe('a user who is not active', () => {
  const asked = { resource: { name: 'Article' }, action: 'list' };
  const REFUSED = { allowed: false, reason: 'the user of this token is not active' };
  const NOTE = 'requests of this user are refused before policies are evaluated; the trace shows the result of the policies';

  beforeEach(async () => {
    await world.policy({ role: 'editor', rules: [rule('*')] });
  });

  const cases: readonly (readonly [what: string, user: () => object, allowed: boolean])[] = [
    ['as stored', () => ({ id: world.idOf('gone') }), false],
    ['as the test says', () => ({ id: world.idOf('maya'), isActive: false }), false],
    ['as the test says of a user who is not stored', () => ({ role: 'editor', isActive: false }), false],
    ['with a role as the test says', () => ({ id: world.idOf('gone'), role: 'editor' }), false],
    ['but for the test', () => ({ id: world.idOf('gone'), isActive: true }), true],
    ['not stored, given only by role', () => ({ role: 'editor' }), true],
  ];

  it.each(cases)('%s', async (_, user, allowed) => {
    for (const action of ['read', 'list', 'create', 'update', 'delete', 'export', 'import']) {
      const reply = await test({ ...asked, user: user(), action });
      const expected = { ...REFUSED, matchedPolicy: null, matchedRule: null, note: NOTE };
      expect(reply.at('data'), action).toMatchObject(allowed ? { allowed } : expected);
      expect(reply.at('data.wouldAllow')).toBeUndefined();
    }
  });

  it('is denied by a test of one policy and in what the user may do, as a request is refused', async () => {
    const policy = await world.policy({ rules: [rule('read')] });
    const alone = await world.send('POST', `/admin/api/policies/${policy}/test`, { ...asked, user: { id: world.idOf('gone') } });
    expect(alone.at('data')).toMatchObject({ ...REFUSED, evaluation: { matched: false, effect: 'DENY', policy: { id: policy } } });
    const cells = (await world.send('POST', `/admin/api/users/${world.idOf('gone')}/permissions`, {})).at('data') as object[];
    expect(cells.length).toBeGreaterThan(0);
    for (const cell of cells) {
      expect(cell).toMatchObject({ effect: 'deny', reason: REFUSED.reason });
      expect(cell).not.toHaveProperty('rule');
    }
    const could = await world.send('POST', '/admin/api/policies/who-can', { resource: 'Article', action: 'read' });
    expect(JSON.stringify(could.at('data.users'))).not.toContain(world.idOf('gone'));
    const request = await world.service.call('GET', '/api/Article', { token: world.person('gone').token });
    expect([request.status, request.at('code')]).toEqual([401, 'IDENTITY_TOKEN']);
  });
});

describe('a question with mistakes', () => {
  const paths = async (path: string, body: object): Promise<readonly string[]> => {
    const reply = await world.send('POST', path, body);
    expect(reply.status).toBe(422);
    return (reply.at('errors') as { path: string }[]).map((error) => error.path).sort();
  };

  it('is told all of them, unknown members among them', async () => {
    expect(await paths(TEST, { usr: {}, resource: 5, action: 'reed', environment: { ip: 'home' } })).toEqual([
      'action',
      'environment.ip',
      'resource',
      'resource.name',
      'usr',
    ]);
    expect(await paths('/admin/api/policies/who-can', { user: {}, resource: 5, action: 'reed' })).toEqual(['action', 'resource', 'user']);
    const permissions = `/admin/api/users/${world.idOf('pia')}/permissions`;
    expect(await paths(permissions, { resource: 'Article', resources: ['Artcle'] })).toEqual(['resource', 'resources.0']);
  });
});
