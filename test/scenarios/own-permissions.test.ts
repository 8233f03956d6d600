/** The permissions of the caller: what each caller may do, in the words of a denied request, with one audit entry. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

const definitions = {
  'Article.yaml': `
name: Article
fields:
  title: { type: string, required: true }
  status: { type: enum, values: [draft, published, secret], default: draft }
  ownerId: { type: reference, to: User }
`,
};
const MISSING = '01890a5d-ac96-774b-bcce-b302099a8057';

let service: RunningService;
let uma: TestUser;
let articles: { readonly own: string; readonly published: string; readonly hidden: string };
beforeAll(async () => {
  service = await startService({ definitions });
  uma = await service.user({ name: 'Uma' });
  const article = (title: string, status: string, ownerId?: string) =>
    service.createRecord('Article', { title, status, ...(ownerId && { ownerId }) });
  articles = {
    own: await article('Own', 'draft', uma.id),
    published: await article('Published', 'published'),
    hidden: await article('Hidden', 'secret'),
  };
  await service.createPolicy({
    name: 'Desk',
    role: 'user',
    rules: [
      { resource: 'Article', action: 'read', conditions: [{ field: 'resource.status', operator: 'eq', value: 'published' }] },
      { resource: 'Article', action: '*', conditions: [{ field: 'resource.ownerId', operator: 'eq', value: '${user.id}' }] },
      {
        resource: 'Article',
        action: 'update',
        effect: 'DENY',
        description: 'published articles stay',
        priority: 200,
        conditions: [{ field: 'resource.status', operator: 'eq', value: 'published' }],
      },
    ],
  });
});
afterAll(() => service.close());

interface Permission {
  readonly id?: string;
  readonly action: string;
  readonly effect: string;
  readonly reason: string;
  readonly rule?: string;
  readonly policy?: string;
}
const ask = (body: object, token: string | undefined = uma.token): Promise<Reply> =>
  service.call('POST', '/auth/me/permissions', { body, ...(token !== '' && { token }) });
const permissionsOf = async (body: object, token?: string): Promise<readonly Permission[]> => {
  const reply = await ask(body, token);
  expect(reply.status, reply.text).toBe(200);
  return reply.at('data') as readonly Permission[];
};

describe('the permissions of the caller', () => {
  it('covers every action on any record', async () => {
    const found = await permissionsOf({ resource: 'Article' });
    expect(Object.fromEntries(found.map(({ action, effect }) => [action, effect]))).toEqual({
      create: 'conditional',
      read: 'conditional',
      update: 'conditional',
      delete: 'conditional',
      list: 'conditional',
      export: 'conditional',
      import: 'conditional',
    });
    expect(new Set(found.map(({ reason, rule }) => [reason, rule].join()))).toEqual(new Set(['depends on the record or on the request,']));
  });

  it('decides on the stored records', async () => {
    const ids = [articles.own, articles.published, articles.hidden];
    const found = await permissionsOf({ resource: 'Article', ids, actions: ['read', 'delete'] });
    expect(found.map(({ id, action, effect }) => [ids.indexOf(String(id)), action, effect])).toEqual([
      [0, 'read', 'allow'],
      [1, 'read', 'allow'],
      [2, 'read', 'deny'],
      [0, 'delete', 'allow'],
      [1, 'delete', 'deny'],
      [2, 'delete', 'deny'],
    ]);
  });

  it('says in the words of a denied request why an action is denied', async () => {
    const [permission] = await permissionsOf({ resource: 'Article', ids: [articles.published], actions: ['update'] });
    const denied = await service.call('PUT', `/api/Article/${articles.published}`, { token: uma.token, body: { title: 'x' } });
    expect(permission).toEqual({
      id: articles.published,
      action: 'update',
      effect: 'deny',
      reason: denied.at('detail'),
      rule: 'published articles stay',
      policy: 'Desk',
    });
    const [unmatched] = await permissionsOf({ resource: 'Article', ids: [articles.hidden], actions: ['read'] });
    expect(unmatched).toEqual({ id: articles.hidden, action: 'read', effect: 'deny', reason: 'no rule matched' });
  });

  it('a missing id and a hidden record get the same answer', async () => {
    const [hidden, missing] = await Promise.all([articles.hidden, MISSING].map((id) => permissionsOf({ resource: 'Article', ids: [id] })));
    const withoutId = (found: readonly Permission[] = []) => found.map(({ id: _, ...permission }) => permission);
    expect(withoutId(missing?.filter(({ action }) => action === 'read'))).toEqual(
      withoutId(hidden?.filter(({ action }) => action === 'read')),
    );
    expect(missing?.map(({ action }) => action)).toEqual(['read', 'update', 'delete', 'list', 'export']);
  });

  it('the effect on a record is that of the request itself', async () => {
    for (const id of Object.values(articles)) {
      const [read] = await permissionsOf({ resource: 'Article', ids: [id], actions: ['read'] });
      const { status } = await service.call('GET', `/api/Article/${id}`, { token: uma.token });
      expect(read?.effect).toBe(status === 200 ? 'allow' : 'deny');
    }
  });

  it('shows neither values nor the rules that allow', async () => {
    const ids = Object.values(articles);
    const reply = await ask({ resource: 'Article', ids });
    for (const hidden of ['secret', 'draft', 'Hidden', 'when']) expect(reply.text).not.toContain(hidden);
    for (const permission of reply.at('data') as readonly Permission[])
      if (permission.effect !== 'deny') expect(JSON.stringify(permission)).not.toMatch(/rule|policy|Desk/);
  });

  it('answers callers without a token for the role anon', async () => {
    const reply = await ask({ resource: 'Article', actions: ['read'] }, '');
    expect(reply.at('data')).toEqual([{ action: 'read', effect: 'deny', reason: 'no policies found for role anon' }]);
    expect(reply.headers['cache-control']).toBe('no-store');
  });

  it('repeated ids and actions are decided once', async () => {
    expect(await permissionsOf({ resource: 'Article', ids: [MISSING, MISSING], actions: ['read', 'read'] })).toHaveLength(1);
  });

  it('follows a change of policies at once', async () => {
    const { id, token } = await service.user();
    const effect = async () => (await permissionsOf({ resource: 'Article', ids: [articles.hidden], actions: ['read'] }, token))[0]?.effect;
    expect(await effect()).toBe('deny');
    await service.createPolicy({ userId: id, rules: [{ resource: 'Article', action: 'read' }] });
    expect(await effect()).toBe('allow');
  });
});

describe('the audit entry of a question', () => {
  const evaluations = (query = '') => service.decisions(`kind=evaluation&${query}`);

  it('each question has one entry, which names the question and counts in no analytics', async () => {
    const token = (await service.admin()).token;
    const counts = async () => {
      const { accessGrants, accessDenials } = (await service.call('GET', '/admin/api/policies-analytics', { token })).at('data') as Record<
        string,
        number
      >;
      return [accessGrants, accessDenials];
    };
    const [before, countsBefore] = [(await evaluations('limit=1000')).length, await counts()];
    const reply = await ask({ resource: 'Article', ids: [articles.own, MISSING], actions: ['update'] });
    const entries = await evaluations('limit=1000');
    expect(entries.length - before).toBe(1);
    expect(entries[0]).toMatchObject({
      id: reply.headers['x-decision-id'],
      kind: 'evaluation',
      userId: uma.id,
      role: 'user',
      resource: 'Article',
      action: 'permissions',
      allowed: true,
      facts: { question: { actions: ['update'], ids: [articles.own, MISSING] } },
    });
    expect(await counts()).toEqual(countsBefore);
    const shown = await service.call('GET', `/admin/api/decisions/${entries[0]?.['id']}`, { token });
    expect([shown.status, shown.at('data.trace')]).toEqual([200, undefined]);
  });
});

describe('a question with a mistake', () => {
  const refused: readonly (readonly [string, object, number, readonly string[]])[] = [
    ['an unknown resource', { resource: 'Nothing' }, 404, []],
    ['a system resource', { resource: '_Policy' }, 404, []],
    ['no resource', {}, 400, ['resource: required']],
    ['an unknown action', { resource: 'Article', actions: ['destroy'] }, 400, ['actions.0: enum']],
    ['no action', { resource: 'Article', actions: [] }, 400, ['actions: tooFew']],
    ['101 ids', { resource: 'Article', ids: Array.from({ length: 101 }, (_, index) => `${index}`) }, 400, ['ids: tooMany']],
    ['an operator as an id', { resource: 'Article', ids: [{ $ne: null }] }, 400, ['ids.0: type']],
    ['ids beside the action create', { resource: 'Article', ids: [MISSING], actions: ['read', 'create'] }, 400, ['actions.1: conflict']],
    ['an unknown member', { resource: 'Article', environment: {} }, 400, ['environment: unknown']],
  ];

  it.each(refused)('refuses a question with %s', async (_, body, status, issues) => {
    const before = (await service.decisions('kind=evaluation&limit=1000')).length;
    const reply = await ask(body);
    const found = ((reply.at('errors') ?? []) as readonly { path: string; code: string }[]).map(({ path, code }) => `${path}: ${code}`);
    expect([reply.status, found]).toEqual([status, issues]);
    expect((await service.decisions('kind=evaluation&limit=1000')).length).toBe(before);
  });

  it('an invalid token is refused, and never treated as no token', async () => {
    expect((await ask({ resource: 'Article' }, 'a.b.c')).status).toBe(401);
  });
});
